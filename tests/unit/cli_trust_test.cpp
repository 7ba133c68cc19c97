#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/all_flags.hpp"
#include "cli/settings.hpp"
#include "cli/trust_records.hpp"
#include "support/cli_run.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace autopack::cli_trust_test {

namespace {

namespace fs = std::filesystem;

/// A project in its own directory, beside files that it must not reach.
class Project : public testing::CliRun {
public:
  Project() {
    write("project/train.py", "print(1)\n");
    write("beside/x.csv", "");
    fs::current_path(directory() / "project");
    set("XDG_STATE_HOME", (directory() / "state").string());
  }

  int command(const std::vector<std::string>& words) {
    auto all = words;
    all.insert(all.end(), {"--executor-image-uri=python:3.11", "--script=train.py"});
    return run(all);
  }
};

bool is_refused(const Project& project, int status, const std::string& key) {
  return (status == 2 || status == 125) &&
         project.errors.find("`" + key + "` is `") != std::string::npos &&
         project.errors.find("autopack trust") != std::string::npos;
}

}  // namespace

TEST_CASE("the table of what flags reach has a row for every flag, and no other") {
  std::vector<std::string> flags;
  for (const auto& flag : cli::flags_of_all_commands()) {
    flags.push_back(flag.long_name);
  }
  std::sort(flags.begin(), flags.end());
  std::vector<std::string> rows;
  for (const auto& [flag, reach] : cli::flag_reaches()) {
    rows.push_back(flag);
  }
  std::vector<std::string> different;
  std::set_symmetric_difference(rows.begin(), rows.end(), flags.begin(), flags.end(),
                                std::back_inserter(different));
  const auto names = join(different, ", ");
  CAPTURE(names);
  CHECK_MESSAGE(different.empty(),
                "each flag needs a row in src/cli/trust.cpp or src/packaging/settings.hpp");
}

TEST_CASE("settings of a project do not reach beyond it by themselves") {
  struct Case {
    const char* key;
    const char* line;
    const char* command;
  };

  const std::vector<Case> cases{
      {"builder", "builder: cloud-build", "submit"},
      {"staging-bucket", "staging-bucket: gs://elsewhere", "build"},
      {"volume", "volume: \"/:/host\"", "run"},
      {"volume", "volume: [./data:/data, ../beside:/b]", "run"},
      {"env-file", "env-file: ../secret.env", "run"},
      {"env-file", "env-file: ~/.env", "run"},
      {"service-account-key-file", "service-account-key-file: /k.json", "run"},
      {"extra-dirs", "extra-dirs: ../beside", "explain"},
      {"extra-dirs", "extra-dirs: [train.py, /home]", "explain"},
      {"extra-dirs", "extra-dirs: train.py,/home", "explain"},
      {"extra-packages", "extra-packages: ../beside", "explain"},
      {"extra-packages", "extra-packages: file:///home/x.whl", "explain"},
      {"templates", "templates: /etc", "explain"},
      {"dockerfile", "dockerfile: ../Dockerfile", "explain"},
      {"local-package-path", "local-package-path: ..", "explain"},
      {"access-token-file", "access-token-file: /etc/passwd", "explain"},
      {"output", "output: \"oci:/tmp/x\"", "build"},
      {"sbom", "sbom: ../all.cdx.json", "build"},
      {"gcs", "gcs: b=/etc", "submit"},
      {"submitter", "submitter: local", "submit"},
      {"config", "config: ../job.yaml", "submit"},
      {"extra-dirs", "worker-pool-spec:\n- script: train.py\n  extra-dirs: [/etc]", "submit"},
      {"extra-dirs", "worker-pool-spec: script=train.py,extra-dirs=/etc", "submit"},
  };

  for (const auto& each : cases) {
    CAPTURE(each.line);
    Project project;
    project.write("project/autopack.yaml", std::string{"display-name: x\n"} + each.line + "\n");
    const int status = project.command({each.command});
    CAPTURE(project.errors);
    CHECK(is_refused(project, status, each.key));
    CHECK(project.errors.find("autopack.yaml:2") != std::string::npos);
  }
  Project project;
  project.write("project/pyproject.toml", "[tool.autopack]\nvolume = \"/:/host\"\n");
  CHECK(is_refused(project, project.command({"run"}), "volume"));
}

TEST_CASE("settings that stay in the project, or that the person says, are heard") {
  Project project;
  project.write("project/data/x.csv", "");
  project.write("project/autopack.yaml", "extra-dirs: data\nvolume: data:/data\n");
  CHECK(project.command({"explain"}) == 0);

  project.write("project/autopack.yaml", "extra-dirs: ../beside\n");
  CHECK(project.command({"explain"}) == 2);
  CHECK(project.command({"explain", "--extra-dirs=../beside"}) == 0);
  CHECK(project.run({"jobs", "list", "--kind=local"}) == 0);  // has no such flag
  project.set("AUTOPACK_EXTRA_DIRS", "../beside");
  CHECK(project.command({"explain"}) == 0);
  project.set("AUTOPACK_EXTRA_DIRS", "");
  CHECK(project.command({"explain"}) == 2);
  project.write("home/.config/autopack/config.yaml", "extra-dirs: ../beside\n");
  CHECK(project.command({"explain"}) == 0);
}

TEST_CASE("a link that leads out of the project is outside, whatever its name") {
  Project project;
  fs::create_directory_symlink("../beside", "inside");
  fs::create_symlink("/nowhere/at/all", "open");
  for (const auto* line : {"extra-dirs: inside\n", "extra-dirs: open\n"}) {
    project.write("project/autopack.yaml", line);
    CHECK(is_refused(project, project.command({"explain"}), "extra-dirs"));
  }
}

TEST_CASE("`autopack trust` allows what the settings say now, in this directory") {
  Project project;
  project.write("project/autopack.yaml", "extra-dirs: ../beside\n");
  CHECK(project.run({"trust"}) == 0);
  CHECK(project.errors.find("`extra-dirs` is `../beside` (autopack.yaml:1)") != std::string::npos);
  CHECK(project.command({"explain"}) == 0);
  CHECK(project.run({"trust", "--list"}) == 0);
  CHECK(project.out == cli::trusted_directory() + "\n");

  // Another value, another place for the same value, another directory.
  project.write("project/autopack.yaml", "display-name: x\nextra-dirs: ../beside\n");
  CHECK(project.command({"explain"}) == 0);
  project.write("project/autopack.yaml", "extra-dirs: [../beside, /etc]\n");
  CHECK(project.command({"explain"}) == 2);
  CHECK(project.errors.find("`extra-dirs` is `../beside`") == std::string::npos);
  project.write("other/autopack.yaml", "extra-dirs: ../beside\n");
  project.write("other/train.py", "print(1)\n");
  fs::current_path(project.directory() / "other");
  CHECK(project.command({"explain"}) == 2);
  fs::current_path(project.directory() / "project");
  project.write("project/autopack.yaml", "extra-dirs: ../beside\n");
  fs::remove_all(project.directory() / "beside");
  fs::create_directory_symlink("/etc", project.directory() / "beside");
  CHECK(project.command({"explain"}) == 2);

  CHECK(project.run({"trust", "--remove"}) == 0);
  CHECK(project.run({"trust", "--list"}) == 0);
  CHECK(project.out.empty());
}

TEST_CASE("settings that `--save` writes into the project's file were typed, so they are trusted") {
  Project project;
  CHECK(project.run({"submit", "--dry-run", "--skip-checks", "--save", "--region=us-central1",
                     "--project=p", "--script=train.py", "--executor-image-uri=python:3.11",
                     "--extra-dirs=../beside", "--output-image-uri=gcr.io/p/i"}) == 0);
  CAPTURE(project.errors);
  CHECK(project.run({"explain"}) == 0);
}

TEST_CASE("a record that others can write trusts nothing") {
  const TemporaryDirectory state;
  const Environment environment{{{"XDG_STATE_HOME", state.path().string()}}};
  cli::write_trust({{"/p", {"abc"}}}, environment);
  CHECK(cli::read_trust(environment) == cli::TrustRecords{{"/p", {"abc"}}});
  REQUIRE(::chmod(cli::trust_file(environment).c_str(), 0666) == 0);
  CHECK(cli::read_trust(environment).empty());
  write_file(cli::trust_file(environment), "{\"directories\": [1]}", FileMode::secret);
  CHECK(cli::read_trust(environment).empty());
}

}  // namespace autopack::cli_trust_test
