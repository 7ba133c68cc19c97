#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "plan/advice.hpp"
#include "plan/import_walk.hpp"
#include "project/certain.hpp"
#include "project/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::plan {

namespace {

std::string where_imported(const project::Import& import,
                           const std::string& path,
                           const std::string& module) {
  return fmt::format("`{}` line {} imports `{}`", printable(path), import.line, printable(module));
}

std::string as_module(const Start& start) {
  const std::string name = replace_all(start.file.substr(0, start.file.rfind('.')), "/", ".");
  return fmt::format("{}{}", start.origin ? "python -m " : "--python-module=", shell_quote(name));
}

/// Returns the replacement for the command that starts the program now.
std::string instead(const Start& start) {
  return start.origin ? fmt::format("`{}` in `{}`", as_module(start), printable(*start.origin))
                      : fmt::format("`{}` instead of `--script`", as_module(start));
}

std::string hint_of_whole_directory(const Start& start) {
  return instead(start) + " looks in the whole directory";
}

}  // namespace

/// As a module, a script would no longer find the files beside it.
void ImportWalk::correct_hints(Problem& problem) const {
  if (!needs_first_root_ || !start_.is_script) {
    return;
  }
  std::ranges::replace(
      problem.hints, hint_of_whole_directory(start_),
      fmt::format("`PYTHONPATH=. python {}` in a shell script finds it, and the modules beside the "
                  "script",
                  shell_quote(start_.file)));
}

Problem ImportWalk::missing(const project::Import& import,
                            const std::string& path,
                            const std::string& name,
                            const source::Entry& there) const {
  Problem problem{.severity = Problem::Severity::warning};
  const std::string where = where_imported(import, path, name);
  const bool is_directory = there.type == source::EntryType::directory;
  const bool needs_module = start_.is_script && !parent_path(start_.file).empty();
  if (modules_.in_image(there.path) != nullptr) {
    problem.message = fmt::format("{}: `{}` is in the image, but not where Python looks", where,
                                  printable(there.path));
    if (start_.is_script) {
      problem.hints = {hint_of_whole_directory(start_)};
    } else if (parent_path(there.path) == parent_path(start_.file)) {
      problem.hints = {
          fmt::format("`--script={}` looks beside the script", shell_quote(start_.file))};
    }
  } else if (const auto rule = project_.ignore.excludes(there.path)) {
    problem.message = fmt::format("{}, which the rule `{}` leaves out of the image", where,
                                  printable(rule->pattern));
    problem.origin = rule->line == 0 ? rule->file : fmt::format("{}:{}", rule->file, rule->line);
    problem.hints = {source::bring_back_command(there.path, is_directory, *rule)};
  } else {
    problem.message = fmt::format("{}, which is not in the image", where);
    if (!is_directory) {
      problem.hints = {fmt::format("move `{}` to `{}`, which is copied", printable(there.path),
                                   printable(parent_path(path)))};
    } else {
      problem.hints = {fmt::format(
          "add `--extra-dirs={}`{}", shell_quote(there.path),
          needs_module ? ", and " + instead(start_) + ": a script finds only modules beside it"
                       : "")};
    }
  }
  return problem;
}

Problem ImportWalk::foreign_extension(const project::Import& import,
                                      const std::string& path,
                                      const ContextEntry& extension) const {
  return Problem::warning(
      {.message =
           fmt::format("{}, and `{}` is built for another Python or system than the "
                       "executor image's, Python {} on {}",
                       where_imported(import, path, import.module), printable(extension.path),
                       plan_.base.python_version.value_or("3"), plan_.base.platform),
       .hints = {"a `setup.py` or `pyproject.toml` that builds it lets the image make its own"}});
}

std::string remedy_for(const project::RemovedName& removed) {
  // Images with older ones are no longer made.
  constexpr unsigned oldest_to_take{9};
  std::vector<std::string> remedies;
  if (removed.instead) {
    remedies.emplace_back(*removed.instead);
  }
  if (removed.minor > oldest_to_take || remedies.empty()) {
    remedies.push_back(fmt::format("take an executor image with Python 3.{}", removed.minor - 1));
  }
  return join(remedies, ", or ");
}

void ImportWalk::report_nothing_there(const project::Import& import,
                                      const std::string& path,
                                      const std::string& wanted) {
  if (!reported_.insert(path + " " + wanted).second) {
    return;
  }
  Problem problem{.severity = Problem::Severity::warning};
  if (wanted.empty()) {
    const std::string name =
        std::string(static_cast<std::size_t>(import.level), '.') + import.module;
    problem.message = where_imported(import, path, name) +
                      ", which fails in a script: it belongs to no package when it is run";
    if (!parent_path(path).empty()) {
      problem.hints = {instead(start_)};
    }
  } else {
    problem.message = where_imported(import, path, wanted) + ", which does not exist";
  }
  report(import, std::move(problem));
}

void ImportWalk::report_ipython(const std::string& path, int line) {
  Problem problem{
      .severity = Problem::Severity::warning,
      .message = fmt::format("`{}` line {} calls `get_ipython()`, which only a notebook has",
                             printable(path), line),
      .hints = {"remove the line; packages that it installs belong into the requirements"}};
  findings_.problems.push_back(start_.is_sure ? project::certain(std::move(problem))
                                              : std::move(problem));
}

/// TensorFlow 2.0 removed these, and earlier versions have wheels up to Python 3.7.
void ImportWalk::report_tensorflow1(const project::Import& import, const std::string& path) {
  static const python::Version first_without{.release = {3, 8}};
  if (!import.module.starts_with("tensorflow") || !python_ || *python_ < first_without) {
    return;
  }
  for (const std::string gone : {"tensorflow.contrib", "tensorflow.examples.tutorials"}) {
    const bool is_named = std::ranges::any_of(
        import.names, [&](const auto& name) { return import.module + "." + name == gone; });
    const bool is_in_it = (import.module + ".").starts_with(gone + ".");
    if ((is_named || is_in_it) && reported_.insert(gone).second) {
      findings_.problems.push_back(Problem::warning(
          {.message = fmt::format(
               "`{}` line {} imports `{}`, which TensorFlow has only before 2.0; "
               "of those versions none is made for Python {}",
               printable(path), import.line, gone, plan_.base.python_version.value_or("")),
           .hints = {"take an executor image with TensorFlow 1"}}));
    }
  }
}

/// A module may come from elsewhere, as `distutils` does from setuptools: its provider is checked
/// with the other imports.
void ImportWalk::report_removed(const project::Import& import, const std::string& path) {
  const auto removed = python_ ? project::find_removed(import, *python_) : std::nullopt;
  if (!removed) {
    return;
  }
  const project::RemovedName& row = *removed->row;
  if (row.is_module()) {
    note_open(import, path);
  } else if (reported_.insert(fmt::format("{} {}", row.module, row.names)).second) {
    report(import,
           Problem::warning({.message = fmt::format(
                                 "`{}` line {} imports `{}` from `{}`, which has it only before "
                                 "Python 3.{}; the executor image has {}",
                                 printable(path), import.line, removed->name, row.module, row.minor,
                                 plan_.base.python_version.value_or("")),
                             .hints = {remedy_for(row)}}));
  }
}

}  // namespace autopack::plan
