#include "base/json.hpp"
#include "base/text.hpp"
#include "submit/submitter.hpp"

#include <fmt/format.h>

#include <chrono>

namespace autopack::submit {

namespace {

using nlohmann::json;

/// Pools that are not empty placeholders.
std::vector<const json*> real_pools(const json& body) {
  std::vector<const json*> pools;
  for (const auto& pool : body.at("jobSpec").at("workerPoolSpecs")) {
    if (!pool.empty()) {
      pools.push_back(&pool);
    }
  }
  return pools;
}

std::int64_t replicas(const json& pool) {
  const json count = pool.value("replicaCount", json("1"));
  return count.is_string() ? std::stoll(count.get<std::string>()) : count.get<std::int64_t>();
}

bool wants_gpu(const json& pool) {
  const json machine = pool.value("machineSpec", json::object());
  return machine.value("acceleratorType", std::string{}).starts_with("NVIDIA");
}

std::vector<std::string> strings(const json& spec, const std::string& key) {
  return spec.value(key, std::vector<std::string>{});
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

  Problems check(const job::JobSpec& job) const override {
    Problems problems;
    if (job.kind != job::JobKind::custom_job) {
      problems.push_back({.message = fmt::format("a local job is a custom job, not a {}",
                                                 job::resource_name(job.kind)),
                          .origin = "`--submitter=local`",
                          .hints = {"`autopack submit --submitter=local` runs the program once"}});
    }
    const auto pools = real_pools(*job.body);
    if (pools.size() > 1 || (pools.size() == 1 && replicas(*pools.front()) > 1)) {
      problems.push_back(
          {.message = "a local job has one pool with one replica in this version",
           .origin = "`--submitter=local`",
           .hints = {
               "`--submitter=vertex` runs every pool; leave the others out to try the first"}});
    }
    if (!pools.empty() && pools.front()->contains("pythonPackageSpec")) {
      problems.push_back({.message = "a local job runs an image, not `python-package-uris`",
                          .origin = "`--submitter=local`",
                          .hints = {"package the directory instead: `local-package-path=.` with "
                                    "`python-module` in `--worker-pool-spec`"}});
    }
    return problems;
  }

  void make_ready() override {}

  PreparedRequest prepare(const json& body) const override {
    return {.method = "RUN", .url = "local", .body = std::make_shared<const json>(body)};
  }

  SubmittedJob submit(const json& body) override {
    const json& pool = *real_pools(body).front();
    engine::ContainerSpec spec = container(pool);
    auto& docker = options_.docker();
    if (!docker.inspect(spec.image)) {
      docker.pull(image::Reference::parse(spec.image), "");
    }
    SubmittedJob job{.name = new_name()};
    options_.started(job.name);
    job.status = docker.run(spec, {.output = options_.log, .errors = options_.log});
    job.answer = std::make_shared<const json>(answer(body, job));
    return job;
  }

private:
  engine::ContainerSpec container(const json& pool) const {
    const json& image = pool.at("containerSpec");
    engine::ContainerSpec spec{.image = image.at("imageUri").get<std::string>(),
                               .arguments = strings(image, "args"),
                               .command = strings(image, "command")};
    for (const auto& variable : image.value("env", json::array())) {
      spec.environment[variable.at("name").get<std::string>()] =
          variable.value("value", std::string{});
    }
    spec.gpus = wants_gpu(pool) && options_.has_gpu;
    if (wants_gpu(pool) && !options_.has_gpu) {
      options_.reporter->warn({.severity = Problem::Severity::warning,
                               .message = "this machine has no NVIDIA GPU: the job runs without"});
    }
    return spec;
  }

  static json answer(const json& body, const SubmittedJob& job) {
    json result = body;
    result["name"] = job.name;
    result["state"] = job.status == 0 ? "JOB_STATE_SUCCEEDED" : "JOB_STATE_FAILED";
    return result;
  }

  LocalOptions options_;
};

}  // namespace

std::unique_ptr<Submitter> make_local_submitter(LocalOptions options) {
  return std::make_unique<LocalSubmitter>(std::move(options));
}

}  // namespace autopack::submit
