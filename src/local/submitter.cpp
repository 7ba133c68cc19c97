#include "local/submitter.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "local/local_job.hpp"
#include "local/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace autopack::local {

namespace {

using nlohmann::json;

/// Returns corrections for `name`, which is not one of the replicas `names`.
std::vector<std::string> replica_hints(const std::string& name,
                                       const std::vector<std::string>& names) {
  if (const auto near = nearest(name, names)) {
    return {fmt::format("did you mean `{}`?", *near)};
  }
  if (names.empty()) {
    return {};
  }
  return {names.size() == 1
              ? fmt::format("its only replica is `{}`", names.front())
              : fmt::format("the first is `{}`, the last `{}`", names.front(), names.back())};
}

class LocalSubmitter final : public submit::Submitter {
public:
  explicit LocalSubmitter(LocalOptions options) : options_{std::move(options)} {}

  Problems check(const job::Job& job) const override;

  void make_ready() override {}

  submit::PreparedRequest prepare(const job::Job& job) const override {
    return {
        .method = "RUN", .url = "local", .body = std::make_shared<const json>(job::resource(job))};
  }

  submit::SubmittedJob submit(const job::Job& job) override;

private:
  Ending run(LocalJob& local, const job::Job& job);

  LocalOptions options_;
};

Problems LocalSubmitter::check(const job::Job& job) const {
  auto problems = check_for_host(job, options_.host);
  if (job::is_tuning(job.kind)) {
    append(problems, check_study_for_host(job));
  }
  if (job.model || job.data) {
    problems.push_back(
        Problem::warning({.message = "a model or dataset of a pipeline has no effect on this "
                                     "machine: its training alone runs",
                          .origin = "`--submitter=local`"}));
  }
  const auto counts = replica_counts(job.spec);
  const auto pools = static_cast<std::size_t>(
      std::ranges::count_if(counts, [](std::size_t count) { return count > 0; }));
  if (options_.most_replicas > 0 && options_.most_replicas < pools) {
    problems.push_back(
        {.message = fmt::format("the job has {} pools, each with at least one replica", pools),
         .origin = fmt::format("`--max-replicas={}`", options_.most_replicas),
         .hints = {fmt::format("`--max-replicas={}` runs one of each pool", pools)}});
  }
  const auto cluster = plan_cluster(limited_counts(counts, options_.most_replicas), "1");
  std::vector<std::string> names;
  std::ranges::transform(cluster.replicas, std::back_inserter(names), &Replica::name);
  for (const auto& fault : options_.faults) {
    if (std::ranges::find(names, fault.replica) == names.end()) {
      problems.push_back({.message = fmt::format("the job has no replica `{}`", fault.replica),
                          .origin = "`--fail`",
                          .hints = replica_hints(fault.replica, names)});
    }
  }
  return problems;
}

submit::SubmittedJob LocalSubmitter::submit(const job::Job& job) {
  LocalJob local{job, options_};
  options_.started(local.record().name());
  Ending ending;
  try {
    ending =
        job::is_tuning(job.kind) ? StudyRun{local, job, options_}.to_the_end() : run(local, job);
  } catch (const Interrupted& end) {
    local.end({.state = "JOB_STATE_CANCELLED", .status = 1, .code = 1, .message = end.what()});
    throw;
  } catch (const Error& error) {
    local.end({.state = "JOB_STATE_FAILED", .status = 1, .code = 13, .message = error.message()});
    throw;
  }
  local.end(ending);
  if (options_.cancellation->requested) {
    Error interrupted{ErrorKind::interrupted, "interrupted; the job was cancelled"};
    if (job::is_tuning(job.kind)) {
      interrupted.hint("continue the study: autopack tune --resume=" + local.record().name());
    }
    throw Interrupted{interrupted};
  }
  return {.name = local.record().name(),
          .answer = std::make_shared<const json>(local.resource()),
          .status = ending.status};
}

Ending LocalSubmitter::run(LocalJob& local, const job::Job& job) {
  const auto cluster = plan_cluster(local.counts(), local.record().id());
  JobWatcher watcher{{.screen = &options_.screen,
                      .log = &local.log(),
                      .writing = &local.writing(),
                      .is_raw = cluster.replicas.size() == 1,
                      .running = [&] { local.enter("RUNNING"); }}};
  auto run = local.run_of(job.spec, cluster, watcher);
  for (const auto& replica : cluster.replicas) {
    run.specs.push_back(container_of(job.spec, cluster, replica, options_.host));
  }
  return run_cluster(run);
}

}  // namespace

std::unique_ptr<submit::Submitter> make_local_submitter(LocalOptions options) {
  return std::make_unique<LocalSubmitter>(std::move(options));
}

}  // namespace autopack::local
