#include "project/requirement_files.hpp"

#include "base/text.hpp"
#include "project/conda_environment.hpp"
#include "project/entry.hpp"
#include "project/ini.hpp"
#include "project/locks.hpp"
#include "project/other_dependencies.hpp"
#include "project/requirement.hpp"
#include "project/requirement_lines.hpp"
#include "project/setup_py.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace autopack::project {

namespace {

const std::string usual_name = "requirements.txt";

/// The files of the request, each once; what leads out of the tree is an error.
std::vector<std::string> named_files(Findings& findings, const Request& request) {
  std::vector<std::string> files;
  for (const auto& text : request.requirement_files) {
    const auto path = path_in_tree(request, text);
    if (!path) {
      findings.error(fmt::format("`{}` leads out of the working directory", printable(text)),
                     "requirements-file");
    } else if (std::find(files.begin(), files.end(), *path) == files.end()) {
      files.push_back(*path);
    }
  }
  return files;
}

/// The directories from the entry's up to the root, which is not among them.
std::vector<std::string> entry_directories(const Request& request) {
  const std::string file = request.module   ? replace_all(*request.module, ".", "/")
                           : request.script ? path_in_tree(request, *request.script).value_or("")
                                            : std::string{};
  std::vector<std::string> directories;
  for (auto path = parent_path(file); !path.empty(); path = parent_path(path)) {
    directories.push_back(path);
  }
  return directories;
}

/// `gpu` of `requirements-gpu.txt` and of `requirements/gpu.txt`; none for another file.
std::optional<std::string> purpose_of(const std::string& path) {
  std::string name = to_lower(base_name(path));
  if (!name.ends_with(".txt")) {
    return std::nullopt;
  }
  name.resize(name.size() - 4);
  if (base_name(parent_path(path)) == "requirements") {
    return name;
  }
  for (const std::string_view start : {"requirements", "requirement"}) {
    if (name.starts_with(start)) {
      const std::string rest = name.substr(start.size());
      return rest.empty()                     ? std::optional{std::string{"base"}}
             : rest.find_first_of("-_.") == 0 ? std::optional{rest.substr(1)}
                                              : std::nullopt;
    }
  }
  if (name.ends_with("-requirements") || name.ends_with("_requirements")) {
    return name.substr(0, name.size() - 13);
  }
  return std::nullopt;
}

/// False for what the program does not need to run.
bool is_for_running(const std::string& purpose) {
  static constexpr std::array<std::string_view, 20> others{
      "dev",   "develop", "development", "test",  "tests",    "testing", "doc",
      "docs",  "lint",    "linting",     "style", "format",   "ci",      "build",
      "types", "typing",  "mypy",        "bench", "notebook", "release"};
  const auto words = split(replace_all(replace_all(purpose, "_", "-"), ".", "-"), '-');
  return std::none_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(others.begin(), others.end(), word) != others.end();
  });
}

bool is_base(const std::string& purpose) {
  static constexpr std::array<std::string_view, 10> names{
      "base",         "main",    "core",    "common", "default",
      "requirements", "install", "runtime", "prod",   "production"};
  return std::find(names.begin(), names.end(), purpose) != names.end();
}

/// The requirement files of a directory, and of `requirements/` in it, that a program may need.
std::vector<std::string> fitting_files(const Findings& findings, const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& place : {directory, join_path(directory, "requirements")}) {
    for (const auto& entry : findings.tree().list(place)) {
      const auto purpose = purpose_of(entry.path);
      if (purpose && is_for_running(*purpose) && findings.is_file(entry.path) &&
          !findings.is_ignored(entry.path)) {
        files.push_back(entry.path);
      }
    }
  }
  return files;
}

std::string flag_for(const std::vector<std::string>& files) {
  return fmt::format("--requirements-file={}", shell_quote(join(files, ",")));
}

/// One file that fits, or the one whose name says that the others add to it.
std::vector<std::string> choose(Findings& findings, const std::vector<std::string>& files) {
  if (files.size() < 2) {
    return files;
  }
  std::vector<std::string> bases;
  std::copy_if(files.begin(), files.end(), std::back_inserter(bases),
               [](const auto& file) { return is_base(purpose_of(file).value_or("")); });
  if (bases.size() != 1) {
    findings.warn(fmt::format("several files say what the program needs, and none is installed: "
                              "`{}`",
                              join(files, "`, `")),
                  "", {flag_for({files.front()})});
    return {};
  }
  std::vector<std::string> rest;
  std::copy_if(files.begin(), files.end(), std::back_inserter(rest),
               [&](const auto& file) { return file != bases.front(); });
  findings.warn(fmt::format("`{}` is installed, `{}` {} not", bases.front(), join(rest, "`, `"),
                            rest.size() == 1 ? "is" : "are"),
                "", {flag_for({bases.front(), rest.front()})});
  return bases;
}

std::vector<std::string> names_in(const Findings& findings, const std::string& file) {
  const Place place = findings.follow(file);
  std::vector<std::string> names;
  if (place.is_file()) {
    const auto text = decode_requirements(findings.tree().read(place.entry.path)).text;
    for (const auto& line : split_requirements(text)) {
      if (auto name = line.requirement ? parse_requirement(*line.requirement).name : std::nullopt) {
        names.push_back(std::move(*name));
      }
    }
  }
  return names;
}

/// The root's file is what is installed; one beside the entry may name more.
void tell_file_beside(Findings& findings, const std::vector<std::string>& directories) {
  for (const auto& directory : directories) {
    const std::string file = join_path(directory, usual_name);
    if (!findings.is_file(file) || findings.is_ignored(file)) {
      continue;
    }
    const auto there = names_in(findings, usual_name);
    for (const auto& name : names_in(findings, file)) {
      if (std::find(there.begin(), there.end(), name) == there.end()) {
        findings.warn(fmt::format("`{}` is installed, `{}`, which names `{}` too, is not",
                                  usual_name, printable(file), name),
                      "", {flag_for({usual_name, file})});
        return;
      }
    }
    return;
  }
}

/// True when installing the project's own package installs what it needs.
bool package_says(const Findings& findings, const Project& project) {
  if (!project.package) {
    return false;
  }
  const auto read = [&](const char* name) {
    const Place place = findings.follow(name);
    return place.is_file() ? findings.tree().read(place.entry.path) : std::string{};
  };
  return declares_dependencies(read("pyproject.toml")) ||
         find_option(parse_ini(read("setup.cfg")), "options", "install_requires") ||
         read_setup_py(read("setup.py")).words.contains("install_requires");
}

/// Names in `files` that they leave open; none when every line of theirs is a pin.
std::vector<std::string> unpinned_names(const Findings& findings,
                                        const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const auto& file : files) {
    const Place place = findings.follow(file);
    const auto text =
        place.is_file() ? decode_requirements(findings.tree().read(place.entry.path)).text : "";
    for (const auto& line : split_requirements(text)) {
      const auto requirement =
          line.requirement ? parse_requirement(*line.requirement) : Requirement{};
      const auto& rest = requirement.rest;
      const bool is_open = requirement.kind == Requirement::Kind::named && requirement.name &&
                           (!rest.starts_with("==") || rest.find('*') != std::string::npos);
      if (is_open) {
        names.push_back(*requirement.name);
      }
    }
  }
  return names;
}

/// Requirement files that were found, with a warning of a lock beside them.
RequirementSources found_files(Findings& findings,
                               const Request& request,
                               std::vector<std::string> files) {
  if (const auto names = unpinned_names(findings, files); !names.empty()) {
    report_lock_beside(findings, request, files, names);
  }
  return {.files = std::move(files)};
}

}  // namespace

RequirementSources find_requirements(Findings& findings,
                                     const Request& request,
                                     const Project& project) {
  if (names_lock(request)) {
    return {.lock = named_lock(findings, request)};
  }
  if (!request.requirement_files.empty()) {
    return {.files = named_files(findings, request)};
  }
  auto directories = entry_directories(request);
  const Place usual = findings.follow(usual_name);
  if (usual.is_file() || usual.kind == Place::Kind::leaves) {
    tell_file_beside(findings, directories);
    return found_files(findings, request, {usual_name});
  }
  if (package_says(findings, project)) {
    RequirementSources sources{.lock = found_lock(findings, request, project)};
    if (!sources.lock) {
      report_unread_files(findings, request, UnreadBeside::package);
    }
    return sources;
  }
  directories.emplace_back();
  for (const auto& directory : directories) {
    const auto files = fitting_files(findings, directory);
    if (!files.empty()) {
      return found_files(findings, request, choose(findings, files));
    }
  }
  if (!find_conda_environment(findings)) {
    if (auto lock = found_lock(findings, request, project)) {
      return {.lock = std::move(lock)};
    }
  }
  return other_dependencies(findings, request);
}

}  // namespace autopack::project
