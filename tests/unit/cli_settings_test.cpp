#include "base/json.hpp"
#include "cli/settings.hpp"
#include "support/cli_run.hpp"

#include <doctest/doctest.h>

namespace autopack::testing::cli_settings_test {

namespace {

struct Submission : CliRun {
  Submission() { write("train.py", "print(1)\n"); }

  nlohmann::json dry_run(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"submit", "--dry-run", "--skip-checks"});
    const int status = run(flags);
    INFO(errors);
    REQUIRE(status == 0);
    return parse_json(out)["request"];
  }
};

constexpr auto* whole = R"(# what this job is
region: europe-west4
project: p1
display-name: first
worker-pool-spec:
  - machine-type: n1-standard-4
    container-image-uri: gcr.io/p/i@sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
env:
  - A=1,2
labels: {team: x}
)";

}  // namespace

TEST_CASE("`autopack submit` alone is enough beside an autopack.yaml") {
  Submission cli;
  cli.write("autopack.yaml", whole);
  const auto request = cli.dry_run();
  CHECK(request["url"].get<std::string>().find("projects/p1/locations/europe-west4") !=
        std::string::npos);
  CHECK(request["body"]["displayName"] == "first");
  CHECK(request["body"]["labels"]["team"] == "x");
  const auto& pool = request["body"]["jobSpec"]["workerPoolSpecs"][0];
  CHECK(pool["machineSpec"]["machineType"] == "n1-standard-4");
  CHECK(pool["containerSpec"]["env"][0]["value"] == "1,2");
}

TEST_CASE("flags win over variables, those over the project's file, that over the user's") {
  Submission cli;
  cli.write("autopack.yaml", whole);
  cli.write("home/.config/autopack/config.yaml",
            "region: us-east1\nservice-account: a@b.example\n");
  CHECK(cli.dry_run()["url"].get<std::string>().find("europe-west4") != std::string::npos);
  CHECK(cli.dry_run()["body"]["jobSpec"]["serviceAccount"] == "a@b.example");
  cli.set("CLOUDSDK_AI_REGION", "us-west1");
  CHECK(cli.dry_run()["url"].get<std::string>().find("us-west1") != std::string::npos);
  cli.set("AUTOPACK_REGION", "us-central1");
  CHECK(cli.dry_run()["url"].get<std::string>().find("us-central1") != std::string::npos);
  CHECK(cli.dry_run({"--region=us-east4"})["url"].get<std::string>().find("us-east4") !=
        std::string::npos);
  cli.dry_run({"-v"});
  CHECK(cli.errors.find("--region is `us-central1` from `AUTOPACK_REGION`") != std::string::npos);
  CHECK(cli.errors.find("--display-name is `first` from autopack.yaml:4") != std::string::npos);
  CHECK(cli.errors.find("--env from autopack.yaml:8") != std::string::npos);
}

TEST_CASE("a program on the command line replaces the file's, however it is named") {
  Submission cli;
  cli.write("autopack.yaml",
            "region: europe-west4\nproject: p1\nexecutor-image-uri: python:3\nscript: train.py\n");
  cli.write("trainer/task.py", "");
  cli.dry_run();
  CHECK(cli.errors.find("script `train.py`") != std::string::npos);
  cli.dry_run({"--python-module=trainer.task"});
  CHECK(cli.errors.find("module `trainer.task`") != std::string::npos);
}

TEST_CASE("words in a list stay as they are in the file") {
  Submission cli;
  cli.write(
      "autopack.yaml",
      std::string{whole} + "args: [--resume, True, on, 010, 1e-3, 1_000, 0x1F, 2024-01-01]\n");
  const auto request = cli.dry_run();
  CHECK(request["body"]["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["args"] ==
        nlohmann::json::parse(
            R"(["--resume", "True", "on", "010", "1e-3", "1_000", "0x1F", "2024-01-01"])"));
}

TEST_CASE("a setting that the file gives twice is refused") {
  Submission cli;
  cli.write("autopack.yaml", "region: us-east1\nenv:\n  A: 1\n  A: 2\n");
  CHECK(cli.run({"submit", "--dry-run"}) == 2);
  CHECK(cli.errors.find("`autopack.yaml` line 4: `A` is given twice, first on line 3") !=
        std::string::npos);
  cli.write("autopack.yaml", "region: us-east1\nproject: p\nregion: us-west1\n");
  CHECK(cli.run({"submit", "--dry-run"}) == 2);
  CHECK(cli.errors.find("line 3: `region` is given twice, first on line 1") != std::string::npos);
}

TEST_CASE("typed pools go over the file's, key by key") {
  Submission cli;
  cli.write("autopack.yaml", whole);
  const auto request = cli.dry_run({"--worker-pool-spec=machine-type=n1-highmem-8"});
  const auto& pools = request["body"]["jobSpec"]["workerPoolSpecs"];
  REQUIRE(pools.size() == 1);
  CHECK(pools[0]["machineSpec"]["machineType"] == "n1-highmem-8");
  CHECK(pools[0]["containerSpec"]["imageUri"].get<std::string>().starts_with("gcr.io/p/i@"));
}

TEST_CASE("pyproject.toml holds the same settings, and a job as a table") {
  Submission cli;
  cli.write("pyproject.toml",
            "[tool.other]\na = 1\n[tool.autopack]\nproject = 'p2'\nregion = 'us-east1'\n"
            "labels = {team = 'y'}\n[tool.autopack.config]\ndisplayName = 'from toml'\n"
            "[[tool.autopack.config.jobSpec.workerPoolSpecs]]\nreplicaCount = 1\n"
            "machineSpec = {machineType = 'n1-standard-4'}\n"
            "containerSpec = {imageUri = 'gcr.io/p/i:v1'}\n");
  const auto request = cli.dry_run();
  CHECK(request["body"]["displayName"] == "from toml");
  CHECK(request["body"]["labels"]["team"] == "y");
  CHECK(cli.run({"submit", "--dry-run", "--region"}) == 2);
  cli.write("autopack.yaml", "region: us-east1\n");
  CHECK(cli.run({"submit", "--dry-run"}) == 2);
  CHECK(cli.errors.find("keep one of the two") != std::string::npos);
}

TEST_CASE("findings in an object of `config` name the line of the file") {
  Submission cli;
  cli.write("autopack.yaml",
            "project: p\nregion: us-central1\nconfig:\n  jobSpec:\n    workerPoolSpec: []\n");
  CHECK(cli.run({"submit", "--dry-run"}) == 2);
  CHECK(cli.errors.find("workerPoolSpecs") != std::string::npos);
  CHECK(cli.errors.find("autopack.yaml:5") != std::string::npos);
}

TEST_CASE("unknown settings are refused, all at once, with line and nearest name") {
  Submission cli;
  cli.write("autopack.yaml", "# c\nregoin: x\n\nhelp: true\nworker_pool_spec: []\n");
  CHECK(cli.run({"submit", "--dry-run"}) == 2);
  CHECK(cli.errors.find("there is no setting `regoin`") != std::string::npos);
  CHECK(cli.errors.find("autopack.yaml:2") != std::string::npos);
  CHECK(cli.errors.find("did you mean `region`?") != std::string::npos);
  CHECK(cli.errors.find("autopack.yaml:4") != std::string::npos);
  CHECK(cli.errors.find("did you mean `worker-pool-spec`?") != std::string::npos);
  CHECK(cli.run({"submit", "--help"}) == 0);
}

TEST_CASE("packaging is written once: at the top or in the pool") {
  Submission cli;
  cli.docker.images["python:3"] = {.id = "sha256:base", .platform = "linux/amd64"};
  cli.write("autopack.yaml",
            "project: p\nregion: us-central1\nexecutor-image-uri: python:3\nscript: train.py\n"
            "output-image-uri: 127.0.0.1:5000/t/m:v1\n");
  const auto request = cli.dry_run({"--worker-pool-spec=machine-type=n1-standard-4"});
  const auto& pool = request["body"]["jobSpec"]["workerPoolSpecs"][0];
  CHECK(pool["containerSpec"]["imageUri"] == "127.0.0.1:5000/t/m:v1");
  cli.write("autopack.yaml",
            "worker-pool-spec:\n- executor-image-uri: python:3\n  script: train.py\n"
            "  requirements: [a, b]\n");
  CHECK(cli.run({"dockerfile"}) == 0);
  CHECK(cli.out.find("FROM python:3") != std::string::npos);
  CHECK(cli.out.find("train.py") != std::string::npos);
}

TEST_CASE("--config takes an autopack.yaml from elsewhere") {
  Submission cli;
  cli.write("other/autopack.yaml", whole);
  CHECK(cli.dry_run({"--config=other/autopack.yaml"})["body"]["displayName"] == "first");
  CHECK(cli.dry_run(
            {"--config", "other/autopack.yaml", "--display-name=x"})["body"]["displayName"] == "x");
}

TEST_CASE("--save adds what was typed and leaves the rest of the file alone") {
  Submission cli;
  const std::string before = "# mine\nregion: us-east1  # near the data\n";
  cli.write("autopack.yaml", before);
  const std::vector<std::string> flags{
      "--save", "--project=p1", "--env=A=1,B=x y",
      "--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1"};
  const auto first = cli.dry_run(flags);
  CHECK(cli.errors.find("Saved  autopack.yaml: ") != std::string::npos);
  const auto after = cli.read("autopack.yaml");
  CHECK(after.starts_with(before));
  for (const auto* const key : {"save", "dry-run", "skip-checks"}) {
    CHECK(after.find(key) == std::string::npos);
  }
  CHECK(cli.dry_run()["body"] == first["body"]);
  cli.dry_run(flags);
  CHECK(cli.read("autopack.yaml") == after);
  CHECK(cli.run({"submit", "--dry-run", "--save", "--region=us-west1"}) == 2);
  CHECK(cli.errors.find("autopack.yaml:2") != std::string::npos);
  CHECK(cli.errors.find("`us-east1` there, `us-west1` typed") != std::string::npos);
  CHECK(cli.errors.find("to replace it, make line 2: region: us-west1") != std::string::npos);
  CHECK(cli.read("autopack.yaml") == after);
}

TEST_CASE("a dry run says that nothing was sent, and which setting is the reason") {
  Submission cli;
  cli.write("autopack.yaml", whole);
  cli.dry_run();
  CHECK(cli.errors.find("Dry run  nothing was built or sent\n") != std::string::npos);
  cli.write("autopack.yaml", std::string{whole} + "dry-run: true\n");
  REQUIRE(cli.run({"submit", "--skip-checks"}) == 0);
  CHECK(cli.errors.find("nothing was built or sent, because of autopack.yaml:") !=
        std::string::npos);
}

TEST_CASE("--save adds to no file that it would be lost in") {
  Submission cli;
  for (const char* const before :
       {"  region: us-east1\n", "{region: us-east1}\n", "region: us-east1\n...\n"}) {
    CAPTURE(before);
    cli.write("autopack.yaml", before);
    const std::string pool = "machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1";
    CHECK(cli.run({"submit", "--dry-run", "--save", "--project=p1",
                   "--worker-pool-spec=" + pool}) == 2);
    CHECK(cli.errors.find("`--save` cannot add to `autopack.yaml` as it is written") !=
          std::string::npos);
    CHECK(cli.read("autopack.yaml") == before);
  }
}

TEST_CASE("--save names the differences in a list, but not its values") {
  Submission cli;
  cli.write("autopack.yaml", whole);
  const auto said = [&](const std::string& flag) {
    CHECK(cli.run({"submit", "--dry-run", "--save", flag}) == 2);
    return cli.errors;
  };
  const auto env = said("--env=A=2,B=hidden");
  CHECK(env.find("`autopack.yaml` has another `env`, and `--save` only adds: `A`, `B` differ") !=
        std::string::npos);
  CHECK(env.find("autopack.yaml:8") != std::string::npos);
  CHECK(env.find("hidden") == std::string::npos);
  CHECK(env.find("remove `env` and its lines from line 8 on") != std::string::npos);
  CHECK(said("--labels=team=y").find("`team` differs") != std::string::npos);
  CHECK(said("--worker-pool-spec=machine-type=n1-standard-8").find("`1.machine-type` differ") !=
        std::string::npos);
  CHECK(cli.read("autopack.yaml") == whole);
}

TEST_CASE("the schema knows every setting") {
  const auto schema = parse_json(cli::settings_schema());
  CHECK(schema["additionalProperties"] == false);
  CHECK(schema["properties"]["engine"]["enum"].size() == 3);
  CHECK(schema["properties"]["worker-pool-spec"]["anyOf"][0]["type"] == "array");
  CHECK_FALSE(schema["properties"].contains("help"));
}

}  // namespace autopack::testing::cli_settings_test
