#include "base/json.hpp"
#include "base/text.hpp"
#include "submit/submitter.hpp"

#include <fmt/format.h>

#include <chrono>

namespace autopack::submit {

namespace {

using nlohmann::json;

/// Pools that are not empty placeholders.
std::vector<job::Pool> real_pools(const job::Job& job) {
  auto pools = job.spec.pools;
  std::erase_if(pools, [](const job::Pool& pool) { return pool.is_empty(); });
  return pools;
}

bool wants_gpu(const job::Pool& pool) {
  return pool.machine && pool.machine->accelerator.value_or("").starts_with("NVIDIA");
}

/// Unique enough for one machine: the time in milliseconds.
std::string new_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("local/{}",
                     std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

class LocalSubmitter : public Submitter {
public:
  explicit LocalSubmitter(LocalOptions options) : options_{std::move(options)} {}

  Problems check(const job::Job& job) const override {
    Problems problems;
    if (job.kind != job::JobKind::custom_job) {
      problems.push_back({.message = fmt::format("a local job is a custom job, not a {}",
                                                 job::resource_name(job.kind)),
                          .origin = "`--submitter=local`",
                          .hints = {"`autopack submit --submitter=local` runs the program once"}});
    }
    const auto pools = real_pools(job);
    if (pools.size() > 1 || (pools.size() == 1 && pools.front().replicas.value_or(1) > 1)) {
      problems.push_back(
          {.message = "a local job has one pool with one replica in this version",
           .origin = "`--submitter=local`",
           .hints = {
               "`--submitter=vertex` runs every pool; leave the others out to try the first"}});
    }
    if (!pools.empty() && pools.front().package) {
      problems.push_back({.message = "a local job runs an image, not `python-package-uris`",
                          .origin = "`--submitter=local`",
                          .hints = {"package the directory instead: `local-package-path=.` with "
                                    "`python-module` in `--worker-pool-spec`"}});
    }
    return problems;
  }

  void make_ready() override {}

  PreparedRequest prepare(const job::Job& job) const override {
    return {
        .method = "RUN", .url = "local", .body = std::make_shared<const json>(job::resource(job))};
  }

  SubmittedJob submit(const job::Job& job) override {
    engine::ContainerSpec spec = container(real_pools(job).front());
    auto& docker = options_.docker();
    if (!docker.inspect(spec.image)) {
      docker.pull(image::Reference::parse(spec.image), "");
    }
    SubmittedJob submitted{.name = new_name()};
    options_.started(submitted.name);
    submitted.status = docker.run(spec, {.output = options_.log, .errors = options_.log});
    submitted.answer = std::make_shared<const json>(answer(job, submitted));
    return submitted;
  }

private:
  engine::ContainerSpec container(const job::Pool& pool) const {
    const auto& container = pool.container.value();
    engine::ContainerSpec spec{.image = container.image.value(),
                               .arguments = container.args,
                               .command = container.command};
    for (const auto& variable : container.env) {
      spec.environment[variable.name.value_or("")] = variable.value.value_or("");
    }
    spec.gpus = wants_gpu(pool) && options_.has_gpu;
    if (wants_gpu(pool) && !options_.has_gpu) {
      options_.reporter->warn({.severity = Problem::Severity::warning,
                               .message = "this machine has no NVIDIA GPU: the job runs without"});
    }
    return spec;
  }

  static json answer(const job::Job& job, const SubmittedJob& submitted) {
    json result = job::resource(job);
    result["name"] = submitted.name;
    result["state"] = submitted.status == 0 ? "JOB_STATE_SUCCEEDED" : "JOB_STATE_FAILED";
    return result;
  }

  LocalOptions options_;
};

}  // namespace

std::unique_ptr<Submitter> make_local_submitter(LocalOptions options) {
  return std::make_unique<LocalSubmitter>(std::move(options));
}

}  // namespace autopack::submit
