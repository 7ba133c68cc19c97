// The output of Poetry 2.1.2, PDM 2.20.1 and Pipenv 2024.0.1 of Debian 13 for
// data/locks/pyproject.toml, from wheels made for it; only the address of the index was changed.
// pdm-urls.lock has static URLs, pdm-plain.lock no inherited metadata, and requirements.txt is
// PDM's export with the extra. pylock.toml is the output of `pip lock` of pip 25.1.1 for two
// requirements.

#include "base/file.hpp"
#include "lock/pins.hpp"
#include "lock/readers.hpp"
#include "lock/select.hpp"
#include "project/project.hpp"
#include "support/locked.hpp"
#include "support/memory_tree.hpp"
#include "test_data.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace autopack::lock_tools_test {

using namespace autopack::lock;

namespace {

using Reader = LockedSet (*)(std::string_view text, const std::string& file, const Target& target);

std::string text_of(const std::string& name) {
  return read_file(std::filesystem::path{TEST_DATA} / "locks" / name);
}

LockedSet read(Reader reader,
               const std::string& file,
               std::vector<std::string> extras = {},
               std::vector<std::string> groups = {}) {
  const auto interpreter = debian_python();
  return reader(text_of(file), file,
                {.interpreter = interpreter,
                 .extras = std::move(extras),
                 .groups = std::move(groups),
                 .project = "mine",
                 .pyproject = text_of("pyproject.toml")});
}

/// The file of `delta`, which has wheels for several machines.
std::string chosen_delta(const LockedSet& set) {
  for (const auto& package : set.packages) {
    const auto chosen = FileChooser{debian_python()}.choose(package).chosen;
    if (package.name == "delta" && chosen) {
      return package.files[*chosen].url.value_or(package.files[*chosen].name);
    }
  }
  return {};
}

const std::string wheel = "delta-3.0-cp311-cp311-manylinux_2_17_x86_64.whl";

}  // namespace

TEST_CASE("a lock that Poetry wrote is read") {
  const auto set = read(read_poetry_lock, "poetry.lock");
  CHECK(summary(set) == "alpha==1.2 beta==2.0 delta==3.0 gamma==1.5");
  CHECK(set.hashed);
  CHECK(set.warnings.empty());
  CHECK(set.packages[0].index == "https://index.example/simple");
  CHECK(chosen_delta(set) == wheel);
  CHECK(summary(read(read_poetry_lock, "poetry.lock", {"gpu"}, {"test"})) ==
        "alpha==1.2 beta==2.0 cuda==12.1 delta==3.0 gamma==1.5 oldone==1.0");
}

TEST_CASE("a lock that PDM wrote is read") {
  const auto set = read(read_pdm_lock, "pdm.lock");
  CHECK(summary(set) == "alpha==1.2 beta[fast]==2.0 delta==3.0 gamma==1.5");
  CHECK(set.hashed);
  CHECK(set.warnings.empty());
  CHECK(chosen_delta(set) == wheel);
  CHECK(chosen_delta(read(read_pdm_lock, "pdm-urls.lock")) ==
        "https://index.example/files/" + wheel);
  CHECK(summary(read(read_pdm_lock, "pdm-urls.lock", {"gpu"}, {"dev"})) ==
        "alpha==1.2 beta[fast]==2.0 checker==8.0 cuda==12.1 delta==3.0 gamma==1.5");
  CHECK(refusal([] {
          read(read_pdm_lock, "pdm-plain.lock");
        }).find("no strategy `inherit_metadata`") != std::string::npos);
}

TEST_CASE("a lock that Pipenv wrote is read") {
  const auto set = read(read_pipfile_lock, "Pipfile.lock");
  CHECK(summary(set) == "alpha==1.2 beta[fast]==2.0 gamma==1.5");
  CHECK(set.hashed);
  CHECK(set.packages[1].index == "https://index.example/simple");
  REQUIRE(set.warnings.size() == 1);
  CHECK(set.warnings[0].message.find("made for Python 3.13") != std::string::npos);
  CHECK(summary(read(read_pipfile_lock, "Pipfile.lock", {}, {"dev"})) ==
        "alpha==1.2 beta[fast]==2.0 checker==8.0 gamma==1.5");
}

TEST_CASE("a lock that pip wrote is read") {
  const auto set = read(read_pylock, "pylock.toml");
  CHECK(summary(set) == "armonly==1.0 counted==1.1 names-left==2.0 spare==3.0");
  CHECK(set.hashed);
  CHECK(set.is_complete);
  CHECK(set.warnings.empty());
  REQUIRE(set.packages[1].files.size() == 1);
  CHECK(set.packages[1].files[0].url == "https://index.example/files/counted-1.1-py3-none-any.whl");
}

TEST_CASE("requirements that PDM exported are a complete set of pins") {
  source::MemoryTree tree{{"train.py", ""}, {"requirements.txt", text_of("requirements.txt")}};
  const auto pins = read_pins(project::scan(tree, {.script = "train.py"}), debian_python());
  REQUIRE_MESSAGE(pins.set, pins.reason);
  CHECK(summary(*pins.set) == "alpha==1.2 beta[fast]==2.0 cuda==12.1 delta==3.0 gamma==1.5");
  CHECK(pins.set->hashed);
  CHECK(pins.set->packages[3].hashes.size() == 5);
}

}  // namespace autopack::lock_tools_test
