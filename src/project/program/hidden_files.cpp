#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/code/python_file.hpp"
#include "project/program/needed_files.hpp"
#include "project/program/opened_paths.hpp"

#include <fmt/format.h>

#include <set>

/// The part of NeededFiles about files that a rule hides from the program.
namespace autopack::project {

namespace {

constexpr auto* environment_file = ".env";

bool is_environment_name(std::string_view path) {
  const auto name = base_name(path);
  return name == environment_file || name.starts_with(".env.");
}

/// Warns that the Python code `from` reads the file `path` in `line`, which `rule` leaves out.
void warn_of_hidden(Findings& findings,
                    const source::Rule& rule,
                    const std::string& from,
                    int line,
                    const std::string& path) {
  findings.warn(
      fmt::format("`{}` line {} reads `{}`, which the rule `{}` leaves out", printable(from), line,
                  printable(path), printable(rule.pattern)),
      rule.line > 0 ? fmt::format("{}:{}", printable(rule.file), rule.line) : printable(rule.file),
      {source::bring_back_command(path, false, rule)});
}

}  // namespace

void check_files_of_setup(Findings& findings) {
  const std::string setup{"setup.py"};
  const auto place = findings.follow(setup);
  const auto code = place.is_file() ? findings.tree().read(place.entry.path) : std::string{};
  std::set<std::string> seen;
  for (const auto& string : read_python_file(code).strings) {
    // It is at the root, so both ways to name a file lead to the same.
    const auto path = string.computed ? std::nullopt : source::normalise(string.text);
    if (!path || !findings.is_file(*path) || !findings.is_ignored(*path) ||
        opened_from(code, string.line, string.text) == OpenedFrom::nowhere ||
        !seen.insert(*path).second) {
      continue;
    }
    if (findings.ignore().is_only_ignored_by_git(*path)) {
      findings.require_included(*path, fmt::format("`{}` line {} reads it", setup, string.line));
    } else if (const auto rule = findings.ignore().excludes(*path)) {
      warn_of_hidden(findings, *rule, setup, string.line, *path);
    }
  }
}

/// Examines how the code around `text` uses the file that it names.
void NeededFiles::check_hidden(std::string_view text, const Mention& mention) {
  const auto known = hidden_.find(text);
  if (known == hidden_.end() || !mention.from.ends_with(".py")) {
    return;
  }
  const auto [code, is_new] = texts_.try_emplace(mention.from);
  if (is_new) {
    const auto place = findings_->follow(mention.from);
    code->second = place.is_file() ? findings_->tree().read(place.entry.path) : std::string{};
  }
  const auto from = opened_from(code->second, mention.line, text);
  if (from == OpenedFrom::nowhere) {
    return;
  }
  const auto directory = from == OpenedFrom::file ? parent_path(mention.from) : std::string{};
  const auto wanted = source::normalise(join_path(directory, text));
  if (wanted && known->second.contains(*wanted)) {
    report_hidden(*wanted, mention);
  }
}

void NeededFiles::report_hidden(const std::string& path, const Mention& mention) {
  if (is_environment_name(path)) {
    loads_environment_ = loads_environment_ ? loads_environment_ : std::optional{mention};
    return;
  }
  const auto rule = ignore_.excludes(path);
  if (!rule || !reported_hidden_.insert(path).second) {
    return;
  }
  warn_of_hidden(*findings_, *rule, mention.from, mention.line, path);
}

/// Suggests another way to set variables of an excluded file.
void NeededFiles::report_environment_file(const Project& project) {
  const bool is_given = project.given_at.contains("env") || project.given_at.contains("env-file");
  const auto entry = findings_->tree().find(environment_file);
  if (!loads_environment_ || is_given || !entry || entry->type != source::EntryType::file ||
      !ignore_.excludes(environment_file)) {
    return;
  }
  findings_->warn(
      fmt::format("`{}` stays out of the image, and `{}` line {} loads it", environment_file,
                  printable(loads_environment_->from), loads_environment_->line),
      {},
      {"`--env=NAME=VALUE,...`, or `--env-file=.env` of `autopack run`, gives the "
       "program its variables"});
}

}  // namespace autopack::project
