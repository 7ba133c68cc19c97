#include "slurm/submitter.hpp"

#include "base/contains.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "image/reference.hpp"
#include "job/cluster.hpp"
#include "slurm/bundle.hpp"
#include "slurm/commands.hpp"
#include "slurm/state.hpp"
#include "submit/submission_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

// sbatch has no request id. So the job's directory remembers its number, and its comment identifies
// the submission it is: the same script runs again after a lost answer, and calls sbatch only if
// there is no job with the comment.

namespace autopack::slurm {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr std::array waits{1000ms, 3000ms, 10'000ms};  ///< before each new attempt
constexpr auto* dry_run_submission = "00000000000000000000000000000000";

std::size_t largest_pool(const job::Spec& spec) {
  const auto counts = job::replica_counts(spec);
  return counts.empty() ? 0 : *std::ranges::max_element(counts);
}

Error missing_commands(const ClusterFacts& facts, const Connection& connection) {
  Error error{ErrorKind::remote, fmt::format("{} has no `{}`", connection.place(),
                                             printable(join(facts.missing, "`, `")))};
  return error.hint(connection.name() == "-"
                        ? "`--login=HOST` names a machine that has Slurm's commands"
                        : "is this the login machine of the cluster? Its PATH for ssh "
                          "must have Slurm's commands");
}

class SlurmSubmitter final : public submit::Submitter {
public:
  explicit SlurmSubmitter(SlurmOptions options) : options_{std::move(options)} {}

  Problems check(const job::Job& job) const override {
    return check_for_slurm(job, options_.queue);
  }

  void make_ready() override {}

  Problems ask(const job::Job& job) override;
  submit::PreparedRequest prepare(const job::Job& job) const override;
  submit::SubmittedJob submit(const job::Job& job) override;

private:
  const ClusterFacts& facts();
  ContainerKind choose_container();
  ScriptRequest request_of(const job::Job& job, ContainerKind kind) const;
  PoolProgram program_of(const job::Pool& pool, ContainerKind kind);
  std::string key_of(const job::Job& job, ContainerKind kind) const;
  /// Sets `is_refused` if Slurm surely has no such job.
  std::string send(const job::Job& job, const Submission& submission, bool& is_refused);
  Error unclear(const job::Job& job, const Submission& submission, const std::string& why) const;
  void sleep(std::chrono::milliseconds time) const;

  SlurmOptions options_;
  std::optional<ClusterFacts> facts_{};
  std::map<std::string, PoolProgram> known_images_{};
};

const ClusterFacts& SlurmSubmitter::facts() {
  if (!facts_) {
    const auto answer = options_.connection->run(facts_script(options_.shared_directory));
    auto found = read_facts(answer.output);
    if (!found) {
      throw Error(ErrorKind::remote, fmt::format("{} did not report its commands and containers",
                                                 options_.connection->place()))
          .cause(answer.errors);
    }
    if (!found->missing.empty()) {
      throw missing_commands(*found, *options_.connection);
    }
    facts_ = std::move(found);
  }
  return *facts_;
}

ContainerKind SlurmSubmitter::choose_container() {
  const auto& there = facts().containers;
  if (options_.container) {
    if (!contains(there, *options_.container)) {
      Error error{ErrorKind::remote,
                  fmt::format("the cluster of {} has no {}", options_.connection->place(),
                              describe(*options_.container))};
      std::vector<std::string> words;
      for (const auto one : there) {
        words.emplace_back(to_string(one));
      }
      throw error.hint(words.empty() ? "it has nothing else that starts a container"
                                     : fmt::format("it has `--containers={}`",
                                                   join(words, "`, `--containers=")));
    }
    return *options_.container;
  }
  if (there.empty()) {
    throw no_containers(options_.connection->place());
  }
  return there.front();
}

ScriptRequest SlurmSubmitter::request_of(const job::Job& job, ContainerKind kind) const {
  ScriptRequest request{.job = &job,
                        .queue = options_.queue,
                        .container = kind,
                        .mounts = options_.mounts,
                        .submission = dry_run_submission};
  for (const auto& pool : job.spec.pools) {
    PoolProgram program;
    if (pool.container) {
      program.image = pool.container->image.value_or("IMAGE");
      program.bundle = "BUNDLE";
    }
    request.programs.push_back(std::move(program));
  }
  return request;
}

Problems SlurmSubmitter::ask(const job::Job& job) {
  try {
    const auto kind = choose_container();
    options_.reporter->done(
        "Using", fmt::format("{} on {}{}", describe(kind), options_.connection->place(),
                             options_.container ? "" : " (`--containers` names another)"));
    const auto answer =
        options_.connection->run(test_script(write_script(request_of(job, kind)).batch));
    const auto& queue = options_.queue;
    const auto& scheduling = job.spec.scheduling;
    const auto seconds = queue.time                          ? read_slurm_time(*queue.time)
                         : scheduling && scheduling->timeout ? seconds_of(*scheduling->timeout)
                                                             : std::nullopt;
    return findings(read_test(answer.output), queue, seconds, largest_pool(job.spec));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::remote && error.kind() != ErrorKind::environment) {
      throw;
    }
    return error.as_problems();
  }
}

submit::PreparedRequest SlurmSubmitter::prepare(const job::Job& job) const {
  const auto script =
      write_script(request_of(job, options_.container.value_or(ContainerKind::native)));
  const auto command = options_.connection->by_hand("sbatch");
  return {.method = "SBATCH",
          .url = "slurm/" + options_.connection->name(),
          .body = std::make_shared<const json>(json{{"script", script.batch},
                                                    {"environment", script.environment},
                                                    {"job", job::resource(job)}}),
          .text = fmt::format("# {}\n{}\n# The file `environment`:\n{}", command, script.batch,
                              script.environment)};
}

PoolProgram SlurmSubmitter::program_of(const job::Pool& pool, ContainerKind kind) {
  const auto& container = pool.container.value();
  const auto image = container.image.value();
  auto known = known_images_.find(image);
  const auto source = options_.open(image);
  const auto configuration = image::Configuration::parse(
      source.configuration, fmt::format("the configuration of `{}`", image));
  if (known == known_images_.end()) {
    PoolProgram program{.image = image::Reference::parse(image).with_digest(source.digest),
                        .environment = configuration.environment()};
    program.directory = configuration.working_directory();
    if (kind != ContainerKind::pyxis) {
      auto mounts = options_.mounts;
      const auto jobs = facts().directory + "/jobs";
      mounts.push_back({.source = jobs, .target = jobs});
      program.bundle = deliver(*options_.connection, source,
                               bundle_configuration(configuration, mounts, facts().user),
                               facts().directory, facts().user, *options_.reporter);
    }
    known = known_images_.emplace(image, std::move(program)).first;
  }
  auto program = known->second;
  const bool is_replaced = !container.command.empty();
  auto words = is_replaced ? container.command : configuration.entrypoint();
  const auto rest =
      is_replaced || !container.args.empty() ? container.args : configuration.command();
  words.insert(words.end(), rest.begin(), rest.end());
  if (words.empty()) {
    throw Error(ErrorKind::project, fmt::format("the image `{}` starts no program", image))
        .hint("`command=` of the pool names one");
  }
  program.words = std::move(words);
  return program;
}

Error SlurmSubmitter::unclear(const job::Job& job,
                              const Submission& submission,
                              const std::string& why) const {
  return Error(ErrorKind::remote,
               fmt::format("it is not known whether job `{}` was submitted", job_name(job)))
      .cause(why)
      .hint(fmt::format(
          "look for its comment `{}{}`: {}", comment_prefix, submission.id,
          options_.connection->by_hand("squeue --me --states=all --format='%A %T %k'")));
}

void SlurmSubmitter::sleep(std::chrono::milliseconds time) const {
  if (options_.sleep) {
    options_.sleep(time);
  } else {
    sleep_unless_cancelled(time, options_.cancellation);
  }
}

/// Returns a text that is the same for the same job on the same cluster.
std::string SlurmSubmitter::key_of(const job::Job& job, ContainerKind kind) const {
  const auto script = write_script(request_of(job, kind));
  return sha256(options_.connection->name() + "\n" + facts_->directory + "\n" + script.batch +
                script.environment)
      .hex();
}

/// Returns the job's number.
std::string SlurmSubmitter::send(const job::Job& job,
                                 const Submission& submission,
                                 bool& is_refused) {
  const auto script = submit_script(submission);
  for (std::size_t tries = 0;; ++tries) {
    // An interruption must not leave open whether the job exists.
    const auto answer = options_.connection->attempt(script, Connection::Stops::no);
    if (const auto id =
            answer.is_whole && answer.status == 0 ? read_submitted(answer.output) : std::nullopt) {
      return *id;
    }
    if (answer.is_whole && answer.status != submit_unclear) {
      is_refused = true;
      throw Error(ErrorKind::remote, fmt::format("Slurm refused the job `{}`", job_name(job)))
          .cause(answer.errors);
    }
    if (tries == waits.size()) {
      throw unclear(job, submission, answer.errors);
    }
    options_.reporter->warn(
        Problem::warning({.message = "Slurm's answer was lost: asking whether the job exists",
                          .reason = answer.errors}));
    try {
      sleep(waits.at(tries));
    } catch (const Interrupted&) {
      throw Interrupted{
          Error(ErrorKind::interrupted, "interrupted; it is not known whether the job exists")
              .hint(unclear(job, submission, "").hints().front())};
    }
  }
}

submit::SubmittedJob SlurmSubmitter::submit(const job::Job& job) {
  const auto kind = choose_container();
  auto request = request_of(job, kind);
  for (std::size_t i = 0; i < job.spec.pools.size(); ++i) {
    if (job.spec.pools[i].container) {
      request.programs[i] = program_of(job.spec.pools[i], kind);
    }
  }
  json record{{"displayName", job.display_name.value_or("")},
              {"container", std::string{to_string(kind)}},
              {"image", request.programs.empty() ? "" : request.programs.front().image}};
  if (job.labels) {
    record["labels"] = *job.labels;
  }
  if (options_.cancellation != nullptr) {
    options_.cancellation->throw_if_requested();
  }
  submit::Submission kept{options_.records, key_of(job, kind), submit::new_submission_id(), ""};
  request.submission = kept.id();
  if (kept.is_left()) {
    options_.reporter->warn(Problem::warning(
        {.message = "an earlier run ended before it could report this job: it is submitted only "
                    "if Slurm does not have it"}));
  }
  const Submission submission{.id = kept.id(),
                              .directory = facts().directory,
                              .script = write_script(request),
                              .record = print_json(record)};
  const auto id = [&] {
    bool is_refused = false;
    try {
      return send(job, submission, is_refused);
    } catch (const Error&) {
      if (is_refused) {
        kept.settle();
      }
      throw;  // the next run of this submission asks whether the job exists
    }
  }();
  KnownJob created{.id = id,
                   .submission = submission.id,
                   .record = submission.record,
                   .queued = QueuedJob{.id = id, .state = "PENDING"},
                   .directory = submission.directory + "/jobs/" + submission.id};
  auto resource = job_resource(created, options_.connection->name());
  submit::SubmittedJob result{.name = text_at(resource, "name"),
                              .answer = std::make_shared<const json>(std::move(resource))};
  options_.created(result);
  kept.settle();
  if (options_.cancellation != nullptr && options_.cancellation->requested) {
    throw Interrupted{
        Error(ErrorKind::interrupted, "interrupted; the job was created and continues")
            .hint("cancel it: autopack jobs cancel " + *result.name)};
  }
  return result;
}

}  // namespace

std::unique_ptr<submit::Submitter> make_slurm_submitter(SlurmOptions options) {
  return std::make_unique<SlurmSubmitter>(std::move(options));
}

}  // namespace autopack::slurm
