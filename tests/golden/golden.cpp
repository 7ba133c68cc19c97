// golden CASES: plans the project of each directory below CASES and compares the Dockerfile in both
// dialects and the plan with the files there. AUTOPACK_ACCEPT=1 writes them and exits 77.

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "plan/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>

namespace {

using namespace autopack;
using nlohmann::json;

std::vector<std::string> texts(const json& object, const char* name) {
  return object.value(name, std::vector<std::string>{});
}

project::Request request_of(const json& given, const std::filesystem::path& directory) {
  return {.directory = directory / "project",
          .script = non_empty(given.value("script", "")),
          .module = non_empty(given.value("python-module", "")),
          .requirements = texts(given, "requirements"),
          .extra_packages = texts(given, "extra-packages"),
          .extra_dirs = texts(given, "extra-dirs"),
          .command = texts(given, "command"),
          .launcher = non_empty(given.value("launcher", "")),
          .requirement_files = texts(given, "requirements-file"),
          .lock = non_empty(given.value("lock", "")),
          .package_extras = texts(given, "extra"),
          .groups = texts(given, "group")};
}

image::BaseFacts base_of(const json& given) {
  const json base = given.value("base", json::object());
  return {.reference = base.value("reference", "example.org/python:3.11"),
          .digest = sha256("the executor image"),
          .platform = "linux/amd64",
          .python = non_empty(base.value("python", "python3")),
          .pip = base.value("pip", true),
          .apt = base.value("apt", true),
          .user = base.value("user", ""),
          .vertex_prebuilt = base.value("vertex_prebuilt", false)};
}

/// File name in the case's directory -> what autopack makes of the case now.
std::map<std::string, std::string> results(const std::filesystem::path& directory) {
  const json given = autopack::parse_json(read_file(directory / "case.json"));
  const project::Request request = request_of(given, directory);
  const plan::Options options{
      .system_packages = texts(given, "system-packages"),
      .build_environment = given.value("build-env", std::map<std::string, std::string>{})};
  const std::shared_ptr<const source::Tree> tree = source::make_disk_tree(request.directory);
  try {
    const auto project = project::scan(*tree, request);
    const auto plan = plan::make_plan(tree, project, request, base_of(given), options);
    std::map<std::string, std::string> texts{
        {"Dockerfile", plan.dockerfile},
        {"Dockerfile.classic", plan::render_dockerfile(plan, {.buildkit = false}, options)},
        {"plan.json", plan::to_json(plan)}};
    if (plan.dependencies.install) {
      texts["Dockerfile.observed"] =
          plan::render_dockerfile(plan, {.observer = "observer"}, options);
    }
    return texts;
  } catch (const Error& error) {
    std::string text = error.message() + "\n";
    for (const Problem& problem : error.problems()) {
      text += fmt::format("{}: {}\n", problem.origin.value_or(""), problem.message);
    }
    return {{"error.txt", replace_all(text, directory.string(), "CASE")}};
  }
}

constexpr std::array all_names{"Dockerfile", "Dockerfile.classic", "Dockerfile.observed",
                               "plan.json", "error.txt"};

/// Prints what differs; true when nothing does.
bool compare(const std::filesystem::path& directory) {
  bool same = true;
  const auto now = results(directory);
  for (const char* name : all_names) {
    const auto path = directory / name;
    const std::string expected = read_file_if_exists(path).value_or("");
    const auto found = now.find(name);
    const std::string actual = found == now.end() ? "" : found->second;
    const std::string difference = unified_diff(expected, actual, path.string(), "now");
    std::fputs(difference.c_str(), stdout);
    same = same && difference.empty();
  }
  return same;
}

void accept(const std::filesystem::path& directory) {
  for (const char* name : all_names) {
    std::filesystem::remove(directory / name);
  }
  for (const auto& [name, text] : results(directory)) {
    write_file(directory / name, text);
  }
}

int run(const std::filesystem::path& cases) {
  std::vector<std::filesystem::path> directories;
  for (const auto& entry : std::filesystem::directory_iterator{cases}) {
    directories.push_back(entry.path());
  }
  std::sort(directories.begin(), directories.end());
  const bool accepting = Environment::of_process().get("AUTOPACK_ACCEPT") == "1";
  int failed = 0;
  for (const auto& directory : directories) {
    if (accepting) {
      accept(directory);
    } else if (!compare(directory)) {
      ++failed;
      fmt::print("FAILED {}\n", directory.filename().string());
    }
  }
  fmt::print("{} cases, {} failed\n", directories.size(), failed);
  if (accepting) {
    return 77;
  }
  return failed == 0 && !directories.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  try {
    return count == 2 ? run(words[1]) : 2;
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
}
