#include "cli/completion.hpp"
#include "support/cli_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace autopack::testing::cli_completion_test {

namespace {

bool offers(const std::vector<std::string>& words, const std::string& wanted) {
  const auto all = cli::complete(words);
  return std::any_of(all.begin(), all.end(), [&](const std::string& one) {
    return one.substr(0, one.find('\t')) == wanted;
  });
}

}  // namespace

TEST_CASE("completion knows commands, flags and the words that flags take") {
  CHECK(offers({""}, "submit"));
  CHECK(offers({"-C", "x", "sub"}, "submit"));
  CHECK_FALSE(offers({"sub"}, "build"));
  CHECK(offers({"build", "--eng"}, "--engine="));
  CHECK(offers({"build", "--engine", "d"}, "docker"));
  CHECK_FALSE(offers({"build", "--engine", "d"}, "auto"));
  CHECK(offers({"build", "--engine=di"}, "--engine=direct"));
  CHECK(offers({"submit", "--no-enable-w"}, "--no-enable-web-access"));
  CHECK(offers({"submit", "--submitter="}, "--submitter=local"));
  CHECK(offers({"completion", ""}, "zsh"));
  CHECK(offers({"jobs", "op"}, "open"));
}

TEST_CASE("completion knows values of the service") {
  CHECK(offers({"submit", "--region", "us-c"}, "us-central1"));
  CHECK(offers({"submit", "--machine-type=n1-standard-"}, "--machine-type=n1-standard-4"));
  CHECK(offers({"tune", "--accelerator-type", "NVIDIA_TESLA_T"}, "NVIDIA_TESLA_T4"));
  CHECK_FALSE(offers({"submit", "--accelerator-type", ""}, "ACCELERATOR_TYPE_UNSPECIFIED"));
  CHECK(offers({"submit", "--worker-pool-spec=mach"}, "--worker-pool-spec=machine-type="));
  CHECK(offers({"submit", "--worker-pool-spec", "machine-type=n1-standard-"},
               "machine-type=n1-standard-4"));
  const std::string begun =
      "--worker-pool-spec=machine-type=n1-standard-4,accelerator-type=NVIDIA_T";
  CHECK(offers({"submit", begun},
               "--worker-pool-spec=machine-type=n1-standard-4,accelerator-type=NVIDIA_TESLA_T4"));
  CHECK_FALSE(offers({"submit", "--worker-pool-spec=machine-type=x,m"},
                     "--worker-pool-spec=machine-type=x,machine-type="));
}

TEST_CASE("completion leaves file names to the shell") {
  CHECK(offers({"build", "--dockerfile="}, ":files"));
  CHECK(offers({"build", "--templates", ""}, ":directories"));
  CHECK(offers({"run", "--", "x"}, ":files"));
  CHECK(offers({"submit", "--script="}, ":files"));
  CHECK(offers({"submit", "--worker-pool-spec=script=tr"}, ":files"));
  CHECK(cli::complete({}).empty());
  const auto jobs = [] { return std::vector<std::string>{"local/1\ttaxi, running"}; };
  CHECK(cli::complete({"jobs", "logs", "lo"}, jobs) ==
        std::vector<std::string>{"local/1\ttaxi, running"});
  CHECK(cli::complete({"jobs", "logs", ""}).empty());
}

TEST_CASE("completion prints the scripts of three shells, and refuses others") {
  CliRun cli;
  for (const auto* shell : {"bash", "zsh", "fish"}) {
    CHECK(cli.run({"completion", shell}) == 0);
    CHECK(cli.out.find("autopack completion " + std::string{shell} + " --") != std::string::npos);
  }
  CHECK(cli.run({"completion", "bsah"}) == 2);
  CHECK(cli.errors.find("did you mean `bash`?") != std::string::npos);
  CHECK(cli.run({"completion"}) == 2);
}

}  // namespace autopack::testing::cli_completion_test
