#include "project/program/needed.hpp"

#include "base/text.hpp"
#include "project/program/needed_files.hpp"
#include "project/program/submodules.hpp"
#include "source/remembering_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace autopack::project {

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
