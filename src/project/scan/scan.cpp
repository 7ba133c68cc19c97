#include "base/text.hpp"
#include "project/findings.hpp"
#include "project/package/package.hpp"
#include "project/program/entry.hpp"
#include "project/program/needed_files.hpp"
#include "project/program/python_path.hpp"
#include "project/program/script_metadata.hpp"
#include "project/program/started.hpp"
#include "project/project.hpp"
#include "project/requirements/extras.hpp"
#include "project/requirements/locks.hpp"
#include "project/requirements/named_pythons.hpp"
#include "project/requirements/requirement_checks.hpp"
#include "project/requirements/requirement_files.hpp"
#include "project/requirements/requirement_inputs.hpp"
#include "project/requirements/requirements.hpp"
#include "project/requirements/uv_sources.hpp"

#include <fmt/format.h>

#include <algorithm>

// Reads everything that planning needs from the tree, and runs nothing of it. All findings are
// collected and reported at once. The order matters: the requirements need the package, the entry
// point needs both, and the files that the program names are kept last.

namespace autopack::project {

namespace {

Problem usage(std::string message, std::vector<std::string> hints = {}) {
  return {Problem::Severity::error, std::move(message), {}, std::move(hints)};
}

void check_entry(const Request& request, Problems& problems) {
  const bool has_entry = request.script || request.module;
  if (!has_entry && request.command.empty()) {
    problems.push_back(usage("nothing to run: no `script`, `python-module` or `command` is given",
                             {"--script trainer/task.py", "--python-module trainer.task"}));
  } else if (request.script && request.module) {
    problems.push_back(usage("`script` and `python-module` exclude each other"));
  } else if (has_entry && !request.command.empty()) {
    problems.push_back(
        usage(fmt::format("`{}` and `command` exclude each other",
                          request.script ? "script" : "python-module"),
              {"`--launcher=COMMAND` starts a script or a module through another program"}));
  } else if (!request.command.empty() && request.launcher) {
    problems.push_back(usage("`launcher` and `command` exclude each other"));
  }
}

/// Patterns select below the working directory: one that leads outside matches nothing.
void check_patterns(const Request& request, Problems& problems) {
  const auto leads_out = [](const std::string& pattern) {
    return pattern == ".." || pattern.starts_with("../");
  };
  for (const std::string& pattern : request.include) {
    if (leads_out(pattern)) {
      problems.push_back(usage(
          fmt::format("`include` names `{}`, which is outside of the working directory",
                      printable(pattern)),
          {fmt::format("`--extra-dirs={}` takes in files from elsewhere", printable(pattern))}));
    }
  }
  for (const std::string& pattern : request.exclude) {
    if (leads_out(pattern)) {
      problems.push_back(usage(fmt::format(
          "`exclude` names `{}`, which is outside of the working directory", printable(pattern))));
    }
  }
}

Problems check_request(const Request& request) {
  Problems problems;
  if (request.dockerfile) {
    return problems;
  }
  check_entry(request, problems);
  check_patterns(request, problems);
  if (names_lock(request) && !request.requirement_files.empty()) {
    problems.push_back(usage("`lock` and `requirements-file` exclude each other"));
  }
  return problems;
}

/// Returns the user's own Dockerfile, by its path in the tree if it is there.
std::optional<std::string> find_dockerfile(const source::Tree& tree, const Request& request) {
  const auto inside = path_in_tree(request, request.dockerfile.value().string());
  const auto entry = inside ? tree.find(*inside) : std::nullopt;
  return entry && entry->type == source::EntryType::file ? inside : std::nullopt;
}

void check_dockerfile(const source::Tree& tree, const Request& request) {
  const auto& file = request.dockerfile.value();
  const auto name = file.filename().string();
  if (name.ends_with(".ipynb") || name.ends_with(".py")) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is a program, not a Dockerfile", file.string()))
        .hint("--script=" + shell_quote(file.string()));
  }
  if (find_dockerfile(tree, request) || std::filesystem::is_regular_file(file)) {
    return;
  }
  Error error(ErrorKind::usage, fmt::format("Dockerfile `{}` does not exist", file.string()));
  std::vector<std::string> names;
  for (const auto& entry : tree.list("")) {
    names.push_back(entry.path);
  }
  for (auto& hint : Findings::suggest(file.string(), names)) {
    error.hint(std::move(hint));
  }
  throw std::move(error);
}

std::vector<std::string> paths_in_tree(const Request& request,
                                       const std::vector<std::string>& paths) {
  std::vector<std::string> inside;
  for (const std::string& path : paths) {
    if (auto place = path_in_tree(request, path); place && !place->empty()) {
      inside.push_back(std::move(*place));
    }
  }
  return inside;
}

/// Adds what a notebook installs, as further requirements.
void add_notebook_lines(const Request& request, Project& project, RequirementSources& sources) {
  if (!request.notebook) {
    return;
  }
  project.notebook = request.notebook->file;
  if (project.lock && project.lock->is_own) {
    return;  // the lock includes them
  }
  for (const auto& [text, cell, line] : request.notebook->lines) {
    const std::string place = fmt::format("{} cell {}", request.notebook->file, cell);
    if (text.starts_with('-')) {
      sources.pip_lines.push_back({.text = text, .file = place, .line = line});
    } else {
      sources.requirements.emplace_back(text, fmt::format("{}:{}", place, line));
    }
  }
}

/// The installation reads the packages that a lock builds.
void read_lock_directories(Findings& findings, Project& project) {
  const auto text = project.lock ? findings.tree().read(project.lock->file) : std::string{};
  if (!project.lock || !has_packages_of_no_index(project.lock->file, text)) {
    return;
  }
  const RequirementInputs inputs{findings, project};
  for (const auto& path : directories_in_lock(project.lock->file, text)) {
    inputs.take(path, findings.follow(path), project.lock->file);
  }
  drop_covered_inputs(findings, project);
}

}  // namespace

Project scan(const source::Tree& tree, const Request& request) {
  throw_if_errors(check_request(request), ErrorKind::usage);
  Project project{.given_at = request.given_at};
  if (request.dockerfile) {
    check_dockerfile(tree, request);
    project.ignore = source::load_ignore_rules(tree, find_dockerfile(tree, request));
    return project;
  }
  project.ignore = {tree,
                    {.include = request.include,
                     .exclude = request.exclude,
                     .named = paths_in_tree(request, request.extra_dirs)},
                    request.git};
  Findings findings{tree, project.ignore};
  project.package = read_package(findings, request);
  if (project.package && project.package->installs && findings.is_file("setup.py")) {
    check_files_of_setup(findings);
  }
  project.requires_python = read_requires_python(findings);
  auto sources = find_requirements(findings, request, project);
  project.lock = std::move(sources.lock);
  read_lock_directories(findings, project);
  read_script_block(findings, request, project, sources);
  add_notebook_lines(request, project, sources);
  read_requirements(findings, request, sources, project);
  read_extras(findings, request, sources.requirements, project);
  if (project.lock && project.lock->is_own) {
    project.requirements.clear();  // the lock includes them
  }
  read_user_constraints(findings, request, project);
  check_listed_requirements(findings, project);
  report_unread_sources(findings, request, project);
  report_unread_block(findings, sources, project);
  project.conda = std::move(sources.conda);
  // The entry depends on the requirements, but its findings are reported first.
  Findings of_entry{tree, project.ignore};
  read_entry(of_entry, request, project);
  project.python_path = roots_in_python_path(request.python_path.value_or(""));
  read_started(of_entry, project);
  keep_what_is_needed(findings, request, project);
  project.warnings = of_entry.problems();
  project.warnings.insert(project.warnings.end(), findings.problems().begin(),
                          findings.problems().end());
  for (auto& problem : project.warnings) {
    if (problem.origin) {
      problem.origin = project.origin_of(*problem.origin);
    }
  }
  if (has_errors(project.warnings)) {
    throw Error(ErrorKind::project, std::move(project.warnings));
  }
  return project;
}

}  // namespace autopack::project
