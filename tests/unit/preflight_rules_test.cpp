#include "base/json.hpp"
#include "base/text.hpp"
#include "preflight/rules.hpp"

#include <doctest/doctest.h>

#include <array>

namespace autopack::preflight_rules_test {

using namespace autopack::preflight;
using nlohmann::json;

namespace {

PlannedJob job_with(job::Pool pool) {
  return {.location = {.project = "p", .region = "us-central1"}, .pools = {std::move(pool)}};
}

PlannedJob packaged(const std::string& target, job::Pool pool = {}) {
  auto job = job_with(std::move(pool));
  job.packaged = PlannedImage{.target = image::Reference::parse(target)};
  return job;
}

/// `check outcome` of each finding, joined.
std::string outcomes(const Problems& findings) {
  std::vector<std::string> words;
  for (const auto& finding : findings) {
    words.push_back(finding.check.value_or("") + " " + std::string{to_string(finding.severity)});
    CHECK_FALSE(finding.message.empty());
    const bool is_bad =
        finding.severity == Severity::error || finding.severity == Severity::warning;
    CHECK((!is_bad || finding.reason));
  }
  return join(words, ", ");
}

json metric(const std::string& buckets) {
  return json::parse(R"({"consumerQuotaLimits": [{"quotaBuckets": )" + buckets + "}]}");
}

const job::Location here{.project = "p", .region = "us-central1"};

}  // namespace

TEST_CASE("the facts for checks are read from a job") {
  job::Job custom{
      .spec = {.pools = {{.machine = job::Machine{.type = "n1-standard-4",
                                                  .accelerator = "NVIDIA_TESLA_T4",
                                                  .accelerators = 2},
                          .replicas = 1,
                          .disk = job::Disk{.size = 200},
                          .container = job::Container{.image = "i", .command = {"a", "b"}}},
                         {},
                         {.machine = job::Machine{.type = "n1-standard-8"},
                          .replicas = 3,
                          .package = job::PythonPackage{.executor_image = "e",
                                                        .uris = {"gs://code/a", "gs://out/b"}}}},
               .scheduling = job::Scheduling{.strategy = "SPOT"},
               .service_account = "a@b.c",
               .network = "projects/1/global/networks/n",
               .output = job::Directory{.uri = "gs://out/x"},
               .tensorboard = "projects/p/locations/r/tensorboards/1",
               .persistent_resource = "pr"}};
  const auto facts = read_job(custom, here);
  REQUIRE(facts.pools.size() == 2);
  CHECK(machine_of(facts.pools[0]).accelerators == 2);
  CHECK(boot_disk_of(facts.pools[0]) == 200);
  CHECK(facts.pools[0].container->command == std::vector<std::string>{"a", "b"});
  CHECK(facts.pools[1].replicas == 3);
  CHECK(boot_disk_of(facts.pools[1]) == 100);
  CHECK(facts.ready_images() == std::vector<std::string>{"i", "e"});
  CHECK(facts.buckets == std::vector<std::string>{"out", "code"});
  CHECK(facts.preemptible);
  CHECK(facts.service_account == "a@b.c");
  CHECK(facts.create_permission == "aiplatform.customJobs.create");

  custom.kind = job::JobKind::tuning_job;
  custom.parallel_trials = 4;
  CHECK(read_job(custom, here).parallel_trials == 4);
  CHECK(read_job(custom, here).create_permission == "aiplatform.hyperparameterTuningJobs.create");
  custom.kind = job::JobKind::tuning_pipeline;
  CHECK(read_job(custom, here).create_permission == "aiplatform.trainingPipelines.create");
  CHECK(read_job({}, here).pools.empty());
  CHECK_FALSE(read_job({.spec = {.network = ""}}, here).network);
}

TEST_CASE("image names that Artifact Registry cannot take") {
  CHECK(outcomes(check_image_names(packaged("us-docker.pkg.dev/p/r/i"), true)).empty());
  CHECK(outcomes(check_image_names(packaged("127.0.0.1:5000/i"), true)).empty());
  CHECK(outcomes(check_image_names(packaged("us-docker.pkg.dev/p/r"), true)) == "image-name error");
  CHECK(outcomes(check_image_names(packaged("us-docker.pkg.dev/example.com/p/r"), true)) ==
        "image-name error");
  CHECK(outcomes(check_image_names(packaged("us-docker.pkg.dev/example.com/p/r/i"), true)).empty());
  CHECK(outcomes(check_image_names(packaged("gcr.io/p"), true)) == "image-name error");
  CHECK(outcomes(check_image_names(job_with({.container = job::Container{.image = "gcr.io/p"}}),
                                   true)) == "image-name warning");
  CHECK(outcomes(check_image_names(packaged("gcr.io/p/i"), true)).empty());
  const auto typo = check_image_names(packaged("us-centrall-docker.pkg.dev/p/r/i"), true);
  CHECK(outcomes(typo) == "image-name error");
  CHECK(typo[0].message.find("did you mean") != std::string::npos);
  CHECK(check_image_names(packaged("us-centrall-docker.pkg.dev/p/r/i"), false).empty());
  CHECK(outcomes(check_image_names(job_with({.container = job::Container{.image = "UPPER:x:y"}}),
                                   true)) == "image-name warning");
}

TEST_CASE("prebuilt images are there under one tag") {
  const std::string name = "us-docker.pkg.dev/vertex-ai/training/tf-gpu.2-17.py310";
  CHECK(outcomes(check_image_names(job_with({.container = job::Container{.image = name}}), true)) ==
        "image-name warning");
  CHECK(outcomes(check_image_names(job_with({.container = job::Container{.image = name + ":v1"}}),
                                   true)) == "image-name warning");
  CHECK(check_image_names(job_with({.container = job::Container{.image = name + ":latest"}}), true)
            .empty());
  CHECK(check_image_names(job_with({.container = job::Container{.image = name}}), false).empty());
  const std::string cpu = "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-17.py310:latest";
  CHECK(outcomes(check_prebuilt_accelerators(
            job_with({.machine = job::Machine{.accelerator = "NVIDIA_L4"},
                      .container = job::Container{.image = cpu}}))) == "prebuilt-image warning");
  CHECK(check_prebuilt_accelerators(job_with({.container = job::Container{.image = cpu}})).empty());
}

TEST_CASE("the platform that is built for is the machine's") {
  auto job = packaged("gcr.io/p/i", {.machine = job::Machine{.type = "n1-standard-4"}});
  CHECK(check_platform(job).empty());
  job.packaged->platform = "linux/arm64/v8";
  CHECK(outcomes(check_platform(job)) == "architecture error");
  job.pools[0].machine->type = "a4x-highgpu-4g";
  CHECK(check_platform(job).empty());
}

TEST_CASE("a command's first word is a program") {
  for (const auto* word : {"trainer.task", "train.py", "a.b.c"}) {
    CAPTURE(word);
    CHECK(outcomes(check_commands(job_with({.container = job::Container{.command = {word}}}))) ==
          "command warning");
  }
  for (const auto* word :
       {"python3", "/usr/bin/train.py", "./run.py", "run.sh", "python3.11", ""}) {
    CAPTURE(word);
    CHECK(check_commands(job_with({.container = job::Container{.command = {word}}})).empty());
  }
  CHECK(check_commands(
            job_with({.container = job::Container{.command = {std::string(100'000, 'a') + ".b"}}}))
            .size() == 1);
}

TEST_CASE("an image for another architecture is found") {
  const job::Pool pool{.machine = job::Machine{.type = "n1-standard-4"}};
  CHECK(outcomes(check_image({.name = "i", .platforms = {"linux/arm64"}}, {&pool})) ==
        "architecture error");
  CHECK(check_image({.name = "i", .platforms = {"linux/arm64", "linux/amd64"}}, {&pool}).empty());
  CHECK(check_image({.name = "i"}, {&pool}).empty());
  CHECK(outcomes(check_image({.name = "i", .platforms = {"windows/amd64"}}, {&pool})) ==
        "architecture error");
  CHECK(check_image({.name = "i", .platforms = {"linux/amd64/v2"}}, {&pool}).empty());
}

TEST_CASE("an index without an image for the machine is reported with its platforms") {
  const job::Pool pool{.machine = job::Machine{.type = "n1-standard-4"}};
  const auto index = [](std::vector<std::string> platforms) {
    return ImageFacts{.name = "i", .platforms = std::move(platforms), .is_index = true};
  };
  CHECK(check_image(index({"linux/arm64", "linux/amd64"}), {&pool}).empty());
  const auto found = check_image(index({"linux/arm64/v8", "windows/amd64"}), {&pool});
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Problem::Severity::error);
  CHECK(found[0].message ==
        "the image index `i` has no image for `linux/amd64`, which machine type `n1-standard-4` "
        "runs");
  CHECK(found[0].reason == "it has `linux/arm64/v8`, `windows/amd64`, so no replica could start");
  REQUIRE(found[0].hints.size() == 2);
  CHECK(found[0].hints[1] ==
        "autopack build --platform=linux/amd64 --output-image-uri=REGISTRY/NAME");
  const auto many = check_image(index(std::vector<std::string>(1000, "linux/s390x")), {&pool});
  REQUIRE(many.size() == 1);
  CHECK(many[0].reason.value_or("").ends_with("and 992 more, so no replica could start"));
  const auto none = check_image(index({}), {&pool});
  REQUIRE(none.size() == 1);
  CHECK(none[0].reason == "it names no runnable image, so no replica could start");
}

TEST_CASE("accelerators of the last generations need CUDA 11") {
  const job::Pool new_pool{.machine = job::Machine{.accelerator = "NVIDIA_TESLA_A100"}};
  const job::Pool old_pool{.machine = job::Machine{.accelerator = "NVIDIA_TESLA_V100"}};
  const job::Pool tpu_pool{.machine = job::Machine{.accelerator = "TPU_V3"}};
  CHECK(outcomes(check_image({.name = "i", .cuda_version = "10.2"}, {&new_pool})) == "cuda error");
  CHECK(check_image({.name = "i", .cuda_version = "11.0.3"}, {&new_pool}).empty());
  CHECK(check_image({.name = "i", .cuda_version = "10.2"}, {&old_pool, &tpu_pool}).empty());
  CHECK(check_image({.name = "i", .cuda_version = "odd"}, {&new_pool}).empty());
  CHECK(outcomes(
            check_offline(job_with({.machine = job::Machine{.accelerator = "NVIDIA_L4"},
                                    .container = job::Container{.image = "nvidia/cuda:10.2-base"}}),
                          true)) == "cuda error");
}

TEST_CASE("the CUDA version of an image is in a variable, a label or its name") {
  CHECK(find_cuda_version({"A=1", "CUDA_VERSION=12.1.0"}, {{"com.nvidia.cuda.version", "9"}},
                          "cuda:10") == "12.1.0");
  CHECK(find_cuda_version({}, {{"com.nvidia.cuda.version", "9.2"}}, "cuda:10") == "9.2");
  CHECK_FALSE(find_cuda_version({"CUDA_VERSION="}, {}, "nvidia/cuda:10.2"));
  CHECK(find_cuda_version({}, {}, "nvidia/cuda:10.2-cudnn7") == "10.2");
  CHECK(find_cuda_version({}, {}, "p/torch:1.4-cu101") == "10.1");
  CHECK_FALSE(find_cuda_version({}, {}, "p/torchcu118"));
  CHECK(find_cuda_version({}, {}, "p/torch:x-cu118") == "11.8");
  CHECK_FALSE(find_cuda_version({}, {}, "p/cuda-tools:1"));
  CHECK_FALSE(find_cuda_version({}, {}, "p/cuda"));
  CHECK(find_cuda_version({}, {}, "p/cuda_11.123") == "11.12");
  CHECK_FALSE(find_cuda_version({}, {}, "p/torch:cuda-x-cu1180"));
  CHECK_FALSE(find_cuda_version({}, {}, std::string(100'000, 'c')));
  std::string parts = "cuda11";
  for (int i = 0; i < 100'000; ++i) {
    parts += ".8";
  }
  CHECK(find_cuda_version({}, {}, parts) == parts.substr(4));
}

TEST_CASE("an image that does not fit on the boot disk is reported") {
  const job::Pool pool{.disk = job::Disk{.size = 100}};
  CHECK(outcomes(check_image({.name = "i", .compressed_bytes = 40'000'000'000}, {&pool})) ==
        "boot-disk warning");
  const auto found = check_image({.name = "i", .compressed_bytes = 40'000'000'000}, {&pool});
  CHECK(found[0].hints == std::vector<std::string>{"--boot-disk-size=200"});
  CHECK(check_image({.name = "i", .compressed_bytes = 30'000'000'000}, {&pool}).empty());
}

TEST_CASE("a job's quotas are counted over pools, replicas and trials") {
  auto job =
      job_with({.machine = job::Machine{
                    .type = "n1-standard-8", .accelerator = "NVIDIA_TESLA_T4", .accelerators = 2}});
  job.pools.push_back({.machine = job::Machine{.type = "e2-standard-4"}, .replicas = 3});
  job.pools.push_back({.machine = job::Machine{.type = "c2-standard-8"}});
  job.parallel_trials = 2;
  auto needs = quota_needs(job);
  REQUIRE(needs.size() == 2);
  CHECK(needs[0].metric == "custom_model_training_cpus");
  CHECK(needs[0].amount == 2 * (8 + 3 * 4));
  CHECK(needs[1].metric == "custom_model_training_nvidia_t4_gpus");
  CHECK(needs[1].amount == 4);
  job.preemptible = true;
  CHECK(quota_needs(job)[1].metric == "custom_model_training_preemptible_nvidia_t4_gpus");
  job.persistent_resource = "mine";
  CHECK(quota_needs(job).empty());
}

TEST_CASE("a quota is judged by its region's limit") {
  const QuotaNeed need{.metric = "m", .amount = 2};
  const std::string region = R"({"effectiveLimit": "1", "dimensions": {"region": "us-central1"}})";
  const std::string other = R"({"effectiveLimit": "8", "dimensions": {"region": "us-east1"}})";
  const auto short_of = judge_quota(need, metric("[" + region + "," + other + "]"), here);
  CHECK(short_of.severity == Severity::error);
  CHECK(short_of.hints.front() == "--region=us-east1");
  CHECK(judge_quota(need, metric(R"([{"effectiveLimit": "2"}])"), here).severity == Severity::ok);
  CHECK(judge_quota(need, metric(R"([{"effectiveLimit": "-1"}])"), here).severity == Severity::ok);
  CHECK(judge_quota(need, metric(R"([{}])"), here).severity == Severity::error);
  CHECK(judge_quota(need, metric(R"([{"effectiveLimit": 5}])"), here).severity == Severity::ok);
  CHECK(judge_quota(need, metric(R"([{"effectiveLimit": "many"}])"), here).severity ==
        Severity::error);
  CHECK(judge_quota(need, metric("[" + other + "]"), here).severity == Severity::unknown);
  CHECK(judge_quota(need, metric("[7]"), here).severity == Severity::unknown);
  CHECK(judge_quota(need, json::object(), here).severity == Severity::unknown);
}

TEST_CASE("a policy grants, perhaps grants, or does not") {
  constexpr std::array roles{std::string_view{"roles/reader"}};
  const auto grant = [&](const std::string& role, const std::string& member) {
    return grant_of({{"bindings", {{{"role", role}, {"members", {member}}}}}}, "user:me", roles);
  };
  CHECK(grant("roles/reader", "user:me") == Grant::yes);
  CHECK(grant("roles/reader", "allUsers") == Grant::yes);
  CHECK(grant("roles/other", "user:me") == Grant::no);
  CHECK(grant("roles/reader", "user:you") == Grant::no);
  CHECK(grant("roles/reader", "group:us") == Grant::perhaps);
  CHECK(grant("projects/p/roles/own", "user:me") == Grant::perhaps);
  CHECK(grant_of(json::object(), "user:me", roles) == Grant::no);
  CHECK(grant_of({{"bindings", {7, {{"role", 3}}}}}, "user:me", roles) == Grant::no);
}

TEST_CASE("findings are reported once, errors first") {
  const auto findings =
      in_order({ok("a", "fine"), warning("b", "w", "why"), failing("c", "e", "why"),
                failing("d", "e", "another why"), unknown("e", "u", "why")});
  CHECK(outcomes(findings) == "c error, b warning, e unknown, a ok");
  CHECK_THROWS_WITH_AS(throw_if_errors(findings, ErrorKind::usage), "e: why", Error);
  CHECK_NOTHROW(throw_if_errors({ok("a", "fine"), unknown("e", "u", "why")}, ErrorKind::usage));
}

}  // namespace autopack::preflight_rules_test
