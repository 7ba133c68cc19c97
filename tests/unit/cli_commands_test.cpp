#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/container_options.hpp"
#include "state/base_cache.hpp"
#include "support/cli_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace autopack::testing::cli_commands_test {

namespace {

using Strings = std::vector<std::string>;

const Strings entry{"--executor-image-uri=python:3", "--script=train.py"};

Strings with(const std::string& command, const Strings& flags) {
  Strings all{command};
  all.insert(all.end(), entry.begin(), entry.end());
  all.insert(all.end(), flags.begin(), flags.end());
  return all;
}

/// A project with a script, and a base that needs no probe.
struct Project : CliRun {
  Project() {
    write("train.py", "print(1)\n");
    const Digest digest = sha256("base");
    docker.digests.insert({"python:3", digest});
    docker.images["python@" + digest.str()] = {.id = "sha256:base", .platform = "linux/amd64"};
    docker.images["docker.io/library/python@" + digest.str()] = docker.images.begin()->second;
    state::BaseCache{cache() / "autopack" / "bases"}.store({.reference = "python:3",
                                                            .digest = digest,
                                                            .image_id = "sha256:base",
                                                            .platform = "linux/amd64",
                                                            .python = "python3",
                                                            .pip = true});
  }

  bool called(const std::string& start) const {
    return std::any_of(docker.calls.begin(), docker.calls.end(),
                       [&](const std::string& call) { return call.starts_with(start); });
  }
};

}  // namespace

TEST_CASE("help and version go to standard output and touch nothing") {
  CliRun cli;
  CHECK(cli.run({"--version"}) == 0);
  CHECK(cli.out.starts_with("autopack "));
  CHECK(cli.run({"--help"}) == 0);
  CHECK(cli.out.find("submit") != std::string::npos);
  CHECK(cli.run({"tune", "--help"}) == 0);
  CHECK(cli.out.find("--metric=accuracy:maximize") != std::string::npos);
  for (const auto* command : {"submit", "tune", "run", "build", "dockerfile", "explain", "doctor",
                              "jobs", "translate", "completion"}) {
    CHECK(cli.run({command, "--help"}) == 0);
    CHECK(cli.out.find("example:") != std::string::npos);
    CHECK(std::count(cli.out.begin(), cli.out.end(), '\n') <= 40);
    for (const auto& line : split(cli.out, '\n')) {
      CHECK(line.size() <= 80);
    }
    CHECK(cli.run({command, "--help-all"}) == 0);
    CHECK(cli.out.find("--flags-file FILE") != std::string::npos);
  }
  CHECK(cli.errors.empty());
}

TEST_CASE("commands in the manual can be pasted, and prose is a paragraph") {
  CliRun cli;
  CHECK(cli.run({"--man"}) == 0);
  CHECK(cli.out.find(".PP\n.nf\n.in 0\nautopack run\nautopack run \\-\\-executor") !=
        std::string::npos);
  CHECK(cli.out.find("\\-\\-epochs=1\n.in\n.fi\n.PP\n") != std::string::npos);
  CHECK(cli.out.find("script=train.py\\e\n,executor\\-image\\-uri=") != std::string::npos);
}

TEST_CASE("build pushes the key's tag first and the user's last") {
  Project cli;
  REQUIRE(cli.run(with("build", {"--engine=docker", "--output-image-uri=127.0.0.1:5000/t/m:v1"})) ==
          0);
  CHECK(cli.out == "127.0.0.1:5000/t/m@" + sha256("pushed").str() + "\n");
  REQUIRE(cli.docker.calls.size() >= 3);
  const auto& calls = cli.docker.calls;
  CHECK(calls[calls.size() - 2].starts_with("push 127.0.0.1:5000/t/m:ap-"));
  CHECK(calls.back() == "push 127.0.0.1:5000/t/m:v1");
  CHECK(cli.docker.built.labels.at("autopack.key").size() == 64);
  CHECK(cli.docker.built.labels.at("org.opencontainers.image.base.name") == "python:3");
  CHECK(cli.docker.built.labels.at("org.opencontainers.image.base.digest") == sha256("base").str());
  CHECK(cli.docker.sent.find(sha256("base").str()) != std::string::npos);
  CHECK(cli.errors.find("    Pushed  ") != std::string::npos);
}

TEST_CASE("the same files again are not built again, unless that is asked for") {
  Project cli;
  REQUIRE(cli.run(with("build", {"--no-push"})) == 0);
  CHECK(cli.out == "sha256:built\n");
  cli.docker.calls.clear();
  REQUIRE(cli.run(with("build", {"--no-push", "--format=json"})) == 0);
  CHECK_FALSE(cli.called("build"));
  CHECK(autopack::parse_json(cli.out).at("reused") == true);
  REQUIRE(cli.run(with("build", {"--no-push", "--no-cache"})) == 0);
  CHECK(cli.called("build"));
  cli.docker.calls.clear();
  CHECK(cli.errors.find("rebuilt because --no-cache asks for it") != std::string::npos);
  cli.write("train.py", "print(2)\n");
  REQUIRE(cli.run(with("build", {"--no-push"})) == 0);
  CHECK(cli.called("build"));
  CHECK(cli.errors.find("   Planned  rebuilt because train.py changed\n") != std::string::npos);
}

TEST_CASE("reuse and rebuilds are reported with their reason") {
  Project cli;
  const auto build = [&] {
    REQUIRE(cli.run(with("build", {"--no-push", "--format=json"})) == 0);
    return autopack::parse_json(cli.out);
  };
  cli.write("requirements.txt", "numpy==2.1\n");
  auto image = build();
  CHECK(image.at("reason") == "built for the first time here");
  CHECK(image.at("dependencies").at("reused") == false);
  cli.write("requirements.txt", "numpy==2.2\n");
  image = build();
  const std::string why = "rebuilt because requirements.txt changed (numpy 2.1 -> 2.2)";
  CHECK(image.at("reason") == why);
  CHECK(image.at("dependencies").at("reason") == why);
  CHECK(cli.errors.find("   Planned  all " + why + "\n") != std::string::npos);
  image = build();
  CHECK(image.at("reason") == "reused: nothing changed");
  CHECK(image.at("dependencies").at("reused") == true);
  cli.write("train.py", "print(3)\n");
  image = build();
  CHECK(image.at("reason") == "rebuilt because train.py changed");
  CHECK(image.at("dependencies").at("reason") == "reused: nothing changed");
}

TEST_CASE("a failing build fails with its own error and prints no result") {
  Project cli;
  cli.docker.build_failure = Error(ErrorKind::remote, "step 3 failed");
  CHECK(cli.run(with("build", {"--no-push"})) == 1);
  CHECK(cli.out.empty());
  CHECK(cli.errors.find("error: step 3 failed") != std::string::npos);
  CHECK(cli.run(with("run", {})) == 125);
}

TEST_CASE("choices are explained at first, later in one line") {
  Project cli;
  REQUIRE(cli.run({"run", "--executor-image-uri=python:3"}) == 0);
  CHECK(cli.errors.find("Inferred  script `train.py`: by its name") != std::string::npos);
  REQUIRE(cli.run({"run", "--executor-image-uri=python:3"}) == 0);
  CHECK(cli.errors.find("Inferred") == std::string::npos);
  CHECK(cli.errors.find("Using  script `train.py` (`-v` prints why)\n") != std::string::npos);
  REQUIRE(cli.run({"run", "--executor-image-uri=python:3", "-v"}) == 0);
  CHECK(cli.errors.find("inferred script `train.py`: by its name") != std::string::npos);
  REQUIRE(cli.run({"explain", "--executor-image-uri=python:3"}) == 0);
  CHECK(cli.errors.find("Inferred  script `train.py`: by its name") != std::string::npos);
}

TEST_CASE("run gives the program its arguments, streams and status") {
  Project cli;
  cli.docker.run_status = 3;
  CHECK(cli.run(with("run", {"--gpu", "--", "--epochs=1", ""})) == 3);
  CHECK(cli.out == "output\n");
  CHECK(cli.docker.ran.image == "sha256:built");
  CHECK(cli.docker.ran.arguments == Strings{"--epochs=1", ""});
  CHECK(cli.docker.ran.gpus);
  CHECK(cli.docker.ran.mounts.empty());
  CHECK(cli.docker.ran.environment.empty());
}

TEST_CASE("a shell runs without the program's arguments, and so does a command") {
  Project cli;
  cli.write("autopack.yaml", "args: [--epochs=1]\n");
  REQUIRE(cli.run(with("run", {"--shell"})) == 0);
  CHECK(cli.docker.ran.command.at(0) == "/bin/sh");
  CHECK(cli.docker.ran.arguments.empty());
  REQUIRE(cli.run(with("run", {"--shell", "--", "-c", "pwd"})) == 0);
  CHECK(cli.docker.ran.command.at(0) == "/bin/sh");
  CHECK(cli.docker.ran.arguments == Strings{"-c", "pwd"});
  REQUIRE(cli.run(with("run", {"--shell", "--", "ls", "-la"})) == 0);
  CHECK(cli.docker.ran.command == Strings{"ls", "-la"});
  CHECK(cli.docker.ran.arguments.empty());
  CHECK(cli.run(with("run", {"--shell", "--watch"})) == 125);
  CHECK(cli.errors.find("use one of them") != std::string::npos);
}

TEST_CASE("run gives the program the GPUs that docker's flag names") {
  Project cli;
  REQUIRE(cli.run(with("run", {"--gpus=2"})) == 0);
  CHECK(cli.docker.ran.gpus);
  CHECK(cli.docker.ran.gpu_count == 2);
  for (const auto* flag : {"--gpus=device=0,GPU-8f", "--gpus=\"device=0,GPU-8f\""}) {
    REQUIRE(cli.run(with("run", {flag})) == 0);
    CHECK(cli.docker.ran.gpu_ids == Strings{"0", "GPU-8f"});
  }
  REQUIRE(cli.run(with("run", {"--gpus=nvidia.com/gpu=0"})) == 0);
  CHECK(cli.docker.ran.gpu_ids == Strings{"nvidia.com/gpu=0"});
  REQUIRE(cli.run(with("run", {"--gpus=all"})) == 0);
  CHECK(cli.docker.ran.gpus);
  CHECK(cli.docker.ran.gpu_count == 0);
  CHECK(cli.docker.ran.gpu_ids.empty());
  REQUIRE(cli.run(with("run", {"--gpus=none"})) == 0);
  CHECK_FALSE(cli.docker.ran.gpus);
}

TEST_CASE("a machine has as many GPUs as it has devices of theirs") {
  Project cli;
  CHECK(cli::find_gpus(cli.directory()).empty());
  for (const auto* name : {"nvidia0", "nvidia1", "nvidiactl"}) {
    cli.write(name, "");
  }
  CHECK(cli::find_gpus(cli.directory()) == Strings{"0", "1"});
}

TEST_CASE("run mounts credentials that exist, by their whole path") {
  Project cli;
  cli.write("key.json", "{}");
  REQUIRE(cli.run(with("run", {"--service-account-key-file=key.json"})) == 0);
  REQUIRE(cli.docker.ran.mounts.size() == 1);
  const auto& mount = cli.docker.ran.mounts[0];
  CHECK(std::filesystem::path{mount.host_path}.is_absolute());
  CHECK(mount.read_only);
  CHECK(cli.docker.ran.environment.at("GOOGLE_APPLICATION_CREDENTIALS") == mount.container_path);

  cli.write("home/.config/gcloud/application_default_credentials.json", "{}");
  REQUIRE(cli.run(with("run", {})) == 0);
  CHECK(cli.docker.ran.mounts.size() == 1);
}

TEST_CASE("run leaves one image behind, not one each time") {
  Project cli;
  REQUIRE(cli.run(with("run", {})) == 0);
  CHECK_FALSE(cli.called("remove"));
  cli.write("train.py", "print(2)\n");
  cli.docker.built_id = "sha256:second";
  REQUIRE(cli.run(with("run", {})) == 0);
  CHECK(cli.called("remove"));
  std::size_t tags = 0;
  for (const auto& [name, image] : cli.docker.images) {
    tags += name.find("autopack/") != std::string::npos ? 1U : 0U;
  }
  CHECK(tags == 2);  // the key's and `run`
}

TEST_CASE("run with an executor image finds the program as other commands do") {
  Project cli;
  REQUIRE(cli.run({"run", "--executor-image-uri=python:3", "--", "--epochs=1"}) == 0);
  CHECK(cli.errors.find("Inferred  script `train.py`: by its name") != std::string::npos);
  CHECK(cli.docker.ran.image == "sha256:built");
  CHECK(cli.docker.ran.arguments == Strings{"--epochs=1"});

  std::filesystem::remove(cli.directory() / "train.py");
  cli.write("a.py", "if __name__ == '__main__':\n    print(1)\n");
  cli.write("b.py", "if __name__ == '__main__':\n    print(1)\n");
  CHECK(cli.run({"run", "--executor-image-uri=python:3"}) == 125);
  CHECK(cli.errors.find("several programs could be meant") != std::string::npos);
  CHECK(cli.errors.find("`--no-infer` runs the executor image as it is") != std::string::npos);
}

TEST_CASE("a path that leads out of the directory and back is inside") {
  Project cli;
  const auto name = std::filesystem::canonical(cli.directory()).filename().string();
  REQUIRE(cli.run({"run", "--executor-image-uri=python:3", "--script=../" + name + "/train.py"}) ==
          0);
  CHECK(cli.docker.ran.image == "sha256:built");
  CHECK(cli.run({"run", "--executor-image-uri=python:3", "--script=../train.py"}) == 125);
  CHECK(cli.errors.find("leads out of the working directory") != std::string::npos);
}

TEST_CASE("run without a program runs the executor image as it is") {
  Project cli;
  REQUIRE(cli.run({"run", "--base-image=busybox", "--no-infer", "--", "echo"}) == 0);
  CHECK(cli.docker.ran.image == "busybox");
  CHECK(cli.called("pull"));
  CHECK_FALSE(cli.called("build"));
  std::filesystem::remove(cli.directory() / "train.py");
  cli.docker.ran = {};
  REQUIRE(cli.run({"run", "--base-image=busybox", "--", "echo"}) == 0);
  CHECK(cli.docker.ran.image == "busybox");
  CHECK_FALSE(cli.called("build"));
}

TEST_CASE("explain takes the command line of run") {
  Project cli;
  CHECK(cli.run(with("explain", {"--check", "--", "--epochs=1"})) == 0);
}

TEST_CASE("a written Dockerfile agrees, an edited one is kept, a drifted one is shown") {
  Project cli;
  REQUIRE(cli.run(with("dockerfile", {})) == 0);
  const std::string printed = cli.out;
  REQUIRE(cli.run(with("dockerfile", {"-o", "Dockerfile"})) == 0);
  CHECK(cli.out.empty());
  CHECK(cli.read("Dockerfile") == printed);
  CHECK(cli.run(with("dockerfile", {"--check", "Dockerfile"})) == 0);
  CHECK(cli.run(with("dockerfile", {"-o", "Dockerfile"})) == 0);
  CHECK(cli.docker.calls.empty());

  cli.write("requirements.txt", "numpy\n");
  CHECK(cli.run(with("dockerfile", {"--check", "Dockerfile"})) == 3);
  CHECK(cli.out.starts_with("--- Dockerfile\n+++ "));
  CHECK(cli.errors.find("error: `Dockerfile` is not what") != std::string::npos);

  cli.write("Dockerfile", printed + "RUN mine\n");
  CHECK(cli.run(with("dockerfile", {"-o", "Dockerfile"})) == 2);
  CHECK(cli.read("Dockerfile") == printed + "RUN mine\n");
  CHECK(cli.run(with("dockerfile", {"-o", "Dockerfile", "--force"})) == 0);
  CHECK(cli.read("Dockerfile").find("mine") == std::string::npos);
}

TEST_CASE("--pin names the base by its digest") {
  Project cli;
  REQUIRE(cli.run(with("dockerfile", {"--pin"})) == 0);
  CHECK(cli.out.find("FROM python@" + sha256("base").str()) != std::string::npos);
}

TEST_CASE("explain lists included and excluded files") {
  Project cli;
  const Strings arguments{"explain", "--executor-image-uri=python:3",
                          "--python-module=trainer.task"};
  Strings json_arguments = arguments;
  json_arguments.emplace_back("--format=json");
  cli.write(".git/config", "x");
  cli.write("data/rows.csv", "1\n");
  cli.write("common/__init__.py", "");
  cli.write("trainer/task.py", "import json\nimport yaml\nimport common\n");
  cli.write(".dockerignore", "# big\ndata\ncommon\n");
  REQUIRE(cli.run(arguments) == 0);
  CHECK(cli.out.find("task.py") != std::string::npos);
  CHECK(cli.out.find("  .dockerignore:2 data") != std::string::npos);
  CHECK(cli.out.find("  default **/.git") != std::string::npos);
  CHECK(cli.out.find("nothing: the image stays in the docker engine") != std::string::npos);
  CHECK(cli.errors.find(
            "`trainer/task.py` line 3 imports `common`, which the rule `common` leaves out of "
            "the image") != std::string::npos);
  CHECK(cli.errors.find("echo '!common/**' >> .dockerignore") != std::string::npos);
  CHECK(cli.errors.find("`trainer/task.py` line 2 imports `yaml`, which no requirement provides") !=
        std::string::npos);
  CHECK(cli.errors.find("PyYAML") != std::string::npos);
  REQUIRE(cli.run(json_arguments) == 0);
  const auto json = autopack::parse_json(cli.out);
  CHECK(json["image_key"].get<std::string>().size() == 64);
  CHECK(json["layers"].back()["name"] == "code");
  CHECK(json["layers"].back()["upload"] == false);
  CHECK(json["left_out"][0]["line"].is_number());
  CHECK(json["warnings"].size() == 2);
  CHECK(json["rebuild"]["image"]["reused"] == false);
}

TEST_CASE("a dry run prints the request and asks for no credentials") {
  Project cli;
  cli.set("CLOUDSDK_CORE_PROJECT", "p");
  cli.set("CLOUDSDK_AI_REGION", "us-central1");
  const std::string pool =
      "--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri=python:3,"
      "local-package-path=.,script=train.py";
  REQUIRE(cli.run({"submit", "--dry-run", "--display-name=My Job", pool, "--args=a,b"}) == 0);
  const auto json = autopack::parse_json(cli.out);
  const auto& request = json.at("request");
  CHECK(request.at("method") == "POST");
  const std::string image = request.at("body")
                                .at("jobSpec")
                                .at("workerPoolSpecs")
                                .at(0)
                                .at("containerSpec")
                                .at("imageUri");
  CHECK(image.starts_with("us-central1-docker.pkg.dev/p/autopack/my.job:ap-"));
  CHECK(json.at("image").at("uri") == image);
  CHECK(cli.docker.calls.empty());

  REQUIRE(cli.run({"submit", "--dry-run", pool + ",output-image-uri=gcr.io/p/m:v1",
                   "--format=value(request.body.displayName)"}) == 0);
  CHECK(cli.out == cli.directory().filename().string() + "\n");
}

TEST_CASE("a local job runs what was packaged, and its status is the command's") {
  Project cli;
  cli.docker.fake_containers.usual_status = 7;
  const std::string pool =
      "machine-type=n1-standard-4,executor-image-uri=python:3,local-package-path=.,script=train.py";
  cli.write("data/x.csv", "1\n");
  CHECK(cli.run({"submit", "--submitter=local", "--args=--x", "--env=A=1", "--volume=data:/data:ro",
                 "--worker-pool-spec=" + pool}) == 7);
  REQUIRE(cli.out.starts_with("local/"));
  CHECK(cli.errors.find("output\n") != std::string::npos);
  CHECK(cli.errors.find("exited with a non-zero status of 7") != std::string::npos);
  REQUIRE(cli.docker.fake_containers.specs.size() == 1);
  const auto& ran = cli.docker.fake_containers.specs.begin()->second;
  CHECK(ran.image == "sha256:built");
  CHECK(ran.arguments == Strings{"--x"});
  CHECK(ran.environment.at("A") == "1");
  CHECK_FALSE(ran.interactive);
  REQUIRE_FALSE(ran.mounts.empty());
  CHECK(ran.mounts[0].host_path == (std::filesystem::canonical(cli.directory()) / "data").string());
  CHECK(ran.mounts[0].container_path == "/data");
  CHECK(ran.mounts[0].read_only);

  const auto name = cli.out.substr(0, cli.out.find('\n'));
  REQUIRE(cli.run({"jobs", "list", "--kind=local"}) == 0);
  CHECK(cli.out.find(name) != std::string::npos);
  CHECK(cli.out.find("  local job  failed  ") != std::string::npos);
  REQUIRE(cli.run({"jobs", "describe", name, "--format=value(error.code)"}) == 0);
  CHECK(cli.out == "3\n");
  CHECK(cli.run({"jobs", "stream-logs", name}) == 1);
  CHECK(cli.out.find("\tworkerpool0-0\toutput\n") != std::string::npos);
  // Without a project, names and `--latest` mean jobs of this machine.
  const auto id = name.substr(name.find('/') + 1);
  const auto directory = std::filesystem::canonical(cli.directory()).filename().string();
  for (const auto& words : {Strings{id}, Strings{directory}, Strings{"--latest"},
                            Strings{"--latest", "--kind=local"}}) {
    Strings line{"jobs", "describe", "--format=value(name)"};
    line.insert(line.end(), words.begin(), words.end());
    REQUIRE(cli.run(line) == 0);
    CHECK(cli.out == name + "\n");
  }
  REQUIRE(cli.run({"jobs", "list"}) == 0);
  CHECK(cli.out.find(name) != std::string::npos);
  CHECK(cli.run({"jobs", "describe", "other"}) == 2);
  CHECK(cli.errors.find("there is no job `other` on this machine") != std::string::npos);
  CHECK(cli.run({"jobs", "list", "--kind=custom"}) == 2);
  CHECK(cli.errors.find("no Google Cloud project is set") != std::string::npos);
  REQUIRE(cli.run({"jobs", "cancel", name}) == 0);
  CHECK(cli.errors.find(" had already failed\n") != std::string::npos);
}

TEST_CASE("a local study reports its trials, the best first") {
  Project cli;
  auto& containers = cli.docker.fake_containers;
  CHECK(cli.run({"tune", "--submitter=local", "--metric=loss:minimize", "--parameter=n:1..2",
                 "--algorithm=grid-search", "--max-trial-count=5",
                 "--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=x"}) == 1);
  CHECK(cli.errors.find("The trial never reported the metric loss") != std::string::npos);
  CHECK(containers.specs.size() == 2);
  for (const auto& [name, spec] : containers.specs) {
    CHECK(spec.arguments.at(0) == "--n");
    CHECK(spec.environment.at("CLOUD_ML_TRIAL_ID") == spec.arguments.at(1));
    containers.files[name] = "";
  }
}

TEST_CASE("without a submitter it ends after the push") {
  Project cli;
  REQUIRE(cli.run({"submit", "--submitter=none", "--engine=docker",
                   "--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri=python:3,"
                   "local-package-path=.,script=train.py,output-image-uri=gcr.io/p/m"}) == 0);
  CHECK(cli.out == "gcr.io/p/m@" + sha256("pushed").str() + "\n");
}

TEST_CASE("flags come from a file, too") {
  Project cli;
  cli.set("CLOUDSDK_CORE_PROJECT", "p");
  cli.write("flags.yaml",
            "--region: us-central1\n"
            "--worker-pool-spec:\n"
            "- machine-type: n1-standard-4\n"
            "  executor-image-uri: python:3\n"
            "  local-package-path: .\n"
            "  script: train.py\n"
            "  requirements: ['numpy>=1,<2', scipy]\n"
            "--labels: {team: ml, env: dev}\n"
            "--args: ['a,b', c]\n"
            "--enable-web-access: true\n");
  REQUIRE(cli.run({"submit", "--flags-file=flags.yaml", "--dry-run"}) == 0);
  const auto body = autopack::parse_json(cli.out).at("request").at("body");
  CHECK(body.at("labels") == nlohmann::json{{"team", "ml"}, {"env", "dev"}});
  CHECK(body.at("jobSpec").at("enableWebAccess") == true);
  CHECK(body.at("jobSpec").at("workerPoolSpecs").at(0).at("containerSpec").at("args") ==
        nlohmann::json{"a,b", "c"});
}

TEST_CASE("a request to stop ends with status 130") {
  Project cli;
  cli.docker.on_build = [] { throw Interrupted{}; };
  CHECK(cli.run(with("build", {"--no-push"})) == 130);
  CHECK(cli.run(with("run", {})) == 130);
}

}  // namespace autopack::testing::cli_commands_test
