#include "base/text.hpp"
#include "plan/advice.hpp"
#include "plan/import_walk.hpp"
#include "project/findings.hpp"
#include "python/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace autopack::plan {

using namespace std::string_view_literals;

namespace {

std::string where_imported(const project::Import& import,
                           const std::string& path,
                           const std::string& module) {
  return fmt::format("`{}` line {} imports `{}`", printable(path), import.line, printable(module));
}

std::string as_module(const Start& start) {
  const std::string name = replace_all(start.file.substr(0, start.file.rfind('.')), "/", ".");
  return start.origin.empty() ? fmt::format("--python-module={}", shell_quote(name))
                              : fmt::format("python -m {}", shell_quote(name));
}

/// What to write instead of what starts the program now.
std::string instead(const Start& start) {
  return start.origin.empty()
             ? fmt::format("`{}` instead of `--script`", as_module(start))
             : fmt::format("`{}` in `{}`", as_module(start), printable(start.origin));
}

/// What `collections` no longer has since Python 3.10: it is in `collections.abc`. From "What's New
/// In Python 3.10".
constexpr std::array moved_to_abc{"AsyncGenerator"sv,  "AsyncIterable"sv, "AsyncIterator"sv,
                                  "Awaitable"sv,       "ByteString"sv,    "Callable"sv,
                                  "Collection"sv,      "Container"sv,     "Coroutine"sv,
                                  "Generator"sv,       "Hashable"sv,      "ItemsView"sv,
                                  "Iterable"sv,        "Iterator"sv,      "KeysView"sv,
                                  "Mapping"sv,         "MappingView"sv,   "MutableMapping"sv,
                                  "MutableSequence"sv, "MutableSet"sv,    "Reversible"sv,
                                  "Sequence"sv,        "Set"sv,           "Sized"sv,
                                  "ValuesView"sv};

}  // namespace

Problem ImportWalk::missing(const project::Import& import,
                            const std::string& path,
                            const std::string& name,
                            const source::Entry& there) const {
  Problem problem{.severity = Problem::Severity::warning};
  const std::string where = where_imported(import, path, name);
  const bool is_directory = there.type == source::EntryType::directory;
  const bool needs_module = start_.is_script && !project::parent_path(start_.file).empty();
  if (in_image(there.path) != nullptr) {
    problem.message = fmt::format("{}: `{}` is in the image, but not where Python looks", where,
                                  printable(there.path));
    if (start_.is_script) {
      problem.hints = {instead(start_) + " looks in the whole directory"};
    } else if (project::parent_path(there.path) == project::parent_path(start_.file)) {
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
                                   printable(project::parent_path(path)))};
    } else {
      problem.hints = {fmt::format(
          "add `--extra-dirs={}`{}", shell_quote(there.path),
          needs_module ? ", and " + instead(start_) + ": a script finds only what is beside it"
                       : "")};
    }
  }
  return problem;
}

void ImportWalk::tell_nothing_there(const project::Import& import,
                                    const std::string& path,
                                    const std::string& wanted) {
  if (!told_.insert(path + " " + wanted).second) {
    return;
  }
  Problem problem{.severity = Problem::Severity::warning};
  if (wanted.empty()) {
    const std::string name =
        std::string(static_cast<std::size_t>(import.level), '.') + import.module;
    problem.message = where_imported(import, path, name) +
                      ", which fails in a script: it belongs to no package when it is run";
    if (!project::parent_path(path).empty()) {
      problem.hints = {instead(start_)};
    }
  } else {
    problem.message = where_imported(import, path, wanted) + ", which does not exist";
  }
  findings_.problems.push_back(std::move(problem));
}

/// Told of the first file alone: the others are likely to be as old.
void ImportWalk::tell_python2(const std::string& path, int line) {
  if (told_.insert("print").second) {
    findings_.problems.push_back(
        {.severity = Problem::Severity::warning,
         .message = fmt::format("`{}` is written for Python 2: line {} prints without parentheses",
                                printable(path), line),
         .hints = {"`2to3 --write FILE...` of Python before 3.13 mends most of it"}});
  }
}

void ImportWalk::tell_moved_names(const project::Import& import, const std::string& path) {
  const auto version = python::Version::parse(plan_.base.python_version);
  const bool has_lost_them = version && *version >= python::Version{.release = {3, 10}};
  if (import.module != "collections" || !has_lost_them) {
    return;
  }
  const auto name = std::find_first_of(import.names.begin(), import.names.end(),
                                       moved_to_abc.begin(), moved_to_abc.end());
  if (name != import.names.end() && told_.insert("collections.abc").second) {
    findings_.problems.push_back(
        {.severity = Problem::Severity::warning,
         .message = fmt::format("`{}` line {} imports `{}` from `collections`, which has it only "
                                "before Python 3.10; the executor image has {}",
                                printable(path), import.line, *name, plan_.base.python_version),
         .hints = {"import it from `collections.abc`, or take an executor image with Python 3.9"}});
  }
}

}  // namespace autopack::plan
