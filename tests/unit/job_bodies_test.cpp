#include "base/file.hpp"
#include "base/json.hpp"
#include "job/make_job.hpp"
#include "support/job_arguments.hpp"
#include "test_data.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace autopack::job_bodies_test {

using nlohmann::json;

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator{directory}) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Returns the body for a recorded case; its packaged image is that of `output-image-uri`.
json body_of(const json& recorded) {
  auto arguments = testing::read_job_arguments(recorded["argv"]);
  arguments.location.project = recorded.value("project", "test-project");
  std::optional<job::Config> config;
  if (!arguments.config_path.empty()) {
    const std::string text = recorded["config_file"][arguments.config_path];
    config = job::parse_config(text, arguments.config_path, arguments.problems);
  }
  const auto made = job::make_job(arguments.flags, config ? &*config : nullptr, arguments.location,
                                  {.today = "2026-11-20"}, arguments.problems);
  const auto& pools = arguments.flags.pools;
  const auto image = pools.empty() ? "" : pools.front().output_image_uri.value_or("IMAGE");
  return job::resource(job::with_image(made.job, image));
}

/// Returns null if unset or empty.
const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

TEST_CASE("request bodies are those of the golden files") {
  const auto files = files_of(fs::path{TEST_DATA} / ".." / ".." / "golden" / "bodies");
  REQUIRE(files.size() >= 10);
  for (const auto& file : files) {
    CAPTURE(file);
    auto recorded = nlohmann::ordered_json::parse(read_file(file));
    const auto body = body_of(json(recorded));
    if (variable("AUTOPACK_ACCEPT") != nullptr) {
      recorded["body"] = body;
      write_file(file, recorded.dump(2) + "\n");
    }
    CHECK(body.dump(2) == json(recorded["body"]).dump(2));
  }
}

TEST_CASE("request bodies are those that gcloud sent" *
          doctest::skip(variable("AUTOPACK_ORACLE") == nullptr)) {
  int compared = 0;
  for (const auto& file : files_of(fs::path{variable("AUTOPACK_ORACLE")} / "gcloud")) {
    CAPTURE(file);
    const auto recorded = autopack::parse_json(read_file(file));
    const std::string group = recorded["argv"][1];
    const bool creates =
        (group == "custom-jobs" || group == "hp-tuning-jobs") && recorded["argv"][2] == "create";
    if (!creates) {
      continue;
    }
    if (recorded["requests"].empty()) {
      CHECK_THROWS_AS(body_of(recorded), Error);
    } else {
      CHECK(body_of(recorded).dump(2) == recorded["requests"][0]["body"].dump(2));
    }
    ++compared;
  }
  CHECK(compared > 0);
}

}  // namespace autopack::job_bodies_test
