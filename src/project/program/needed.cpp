#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/findings.hpp"
#include "project/program/needed_files.hpp"
#include "source/remembering_tree.hpp"
#include "source/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

namespace {

constexpr std::string_view modules_file{".gitmodules"};

constexpr std::uint64_t largest_file{1'000'000};

/// Returns paths of git submodules at the tree's root that were not fetched.
std::vector<std::string> empty_submodules(const Findings& findings) {
  const auto entry = findings.tree().find(modules_file);
  if (!entry || entry->type != source::EntryType::file || entry->size > largest_file) {
    return {};
  }
  std::vector<std::string> paths;
  for (const std::string& line : split(findings.tree().read(modules_file), '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string::npos || trim(std::string_view{line}.substr(0, equals)) != "path") {
      continue;
    }
    const auto path = source::normalise(trim(std::string_view{line}.substr(equals + 1)));
    if (path && !path->empty() && findings.is_directory(*path) &&
        findings.tree().list(*path).empty() && !findings.is_ignored(*path)) {
      paths.push_back(*path);
    }
  }
  return paths;
}

}  // namespace

void keep_what_is_needed(Findings& findings, const Request& request, Project& project) {
  const auto submodules = empty_submodules(findings);
  const auto is_there = [&](const char* file) { return findings.tree().find(file).has_value(); };
  const bool has_rules = !request.exclude.empty() || is_there(".dockerignore") ||
                         is_there(".gcloudignore") || is_there(".env");
  if (submodules.empty() && !project.ignore.asks_git() && !has_rules) {
    return;
  }
  const auto tree = source::remembering({std::shared_ptr<const source::Tree>{}, &findings.tree()});
  Findings found{*tree, project.ignore};
  NeededFiles files{found, project, request.python.get()};
  files.follow(project);
  for (const Problem& problem : found.problems()) {
    findings.warn(problem.message, problem.origin.value_or(""), problem.hints);
  }
  for (const std::string& path : submodules) {
    const auto is_in_it = [&](const std::string& input) { return is_below(input, path); };
    const auto& inputs = project.requirement_inputs;
    if (files.names(path) || std::ranges::any_of(inputs, is_in_it)) {
      findings.warn(
          fmt::format("the submodule `{}` is empty here, and so in the image", printable(path)),
          std::string{modules_file},
          {fmt::format("git submodule update --init {}", shell_quote(path))});
    }
  }
  project.ignored_directories = files.ignored_directories();
  project.python_files = files.take_python_files();
}

}  // namespace autopack::project
