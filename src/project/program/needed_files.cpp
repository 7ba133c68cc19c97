#include "project/program/needed_files.hpp"

#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/code/path_texts.hpp"
#include "project/code/python_file.hpp"
#include "source/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

constexpr std::size_t most_files{2000};
constexpr std::uint64_t largest_code{1'000'000};
constexpr std::uint64_t largest_named{10'000'000};
constexpr std::size_t most_directories{50};
constexpr std::size_t most_looked_at{4000};  // entries of all named directories

bool is_settings(std::string_view path) {
  constexpr std::array<std::string_view, 6> suffixes{".yaml", ".yml", ".json",
                                                     ".toml", ".cfg", ".ini"};
  return std::ranges::any_of(suffixes, [&](auto suffix) { return path.ends_with(suffix); });
}

/// Returns true for libraries that read `.env` when they are used.
bool loads_environment(const Import& import) {
  return import.level == 0 &&
         (import.module == "dotenv" || import.module == "decouple" || import.module == "environs");
}

/// Returns `text`, relative to `directory`, as a path of the tree; empty if it leaves the tree.
std::string tree_path(std::string_view text, std::string_view directory) {
  return source::normalise(join_path(directory, text)).value_or("");
}

}  // namespace

NeededFiles::NeededFiles(Findings& findings, const Project& project, RememberedPython* remembered)
    : findings_{&findings},
      remembered_{remembered},
      ignore_{project.ignore},
      python_files_{project.python_files} {
  roots_ = {parent_path(project.entry.file.value_or("")), ""};
  if (project.package) {
    roots_.push_back(project.package->import_root);
  }
  roots_.insert(roots_.end(), project.python_path.begin(), project.python_path.end());
  for (const Started& started : project.started) {
    if (started.kind != EntryKind::shell_script) {
      roots_.push_back(started.root);
    }
  }
  sort_unique(roots_);
  if (project.entry.kind == EntryKind::python_script) {
    python_starts_.insert(project.entry.file.value_or(""));
  }
  for (const Started& started : project.started) {
    if (started.kind == EntryKind::python_script) {
      python_starts_.insert(started.file.value_or(""));
    }
  }
}

void NeededFiles::follow(const Project& project) {
  visit(project.entry.file.value_or(""));
  for (const Started& started : project.started) {
    visit(started.file.value_or(""));
  }
  for (std::size_t looked = 0; !waiting_.empty() || !directories_.empty();) {
    for (; !waiting_.empty(); waiting_.pop_front()) {
      read(waiting_.front());
    }
    if (!directories_.empty() && looked++ < most_directories) {
      look_into(directories_.front());
    }
    if (!directories_.empty()) {
      directories_.pop_front();
    }
  }
  report_too_large();
  report_environment_file(project);
}

bool NeededFiles::names(const std::string& path) const {
  return taken_.contains(path) || std::ranges::any_of(named_, [&](const std::string& text) {
           return is_below(tree_path(text, ""), path);
         });
}

std::vector<NamedDirectory> NeededFiles::ignored_directories() const {
  const auto kept = ignore_.kept();
  std::vector<NamedDirectory> directories;
  for (const auto& ignored : ignored_) {
    const std::string& path = ignored.first;
    const Mention& mention = ignored.second;
    const bool is_known = !directories.empty() && is_below(path, directories.back().path);
    // The needed parts of it are included.
    const bool is_used =
        std::ranges::any_of(kept, [&](const auto& one) { return is_below(one.first, path); });
    const bool holds_tracked = ignore_.may_hold_exceptions(path);
    if (!is_known && !is_used && !holds_tracked) {
      directories.push_back({.path = path, .from = mention.from, .line = mention.line});
    }
  }
  return directories;
}

void NeededFiles::visit(const std::string& path) {
  if (!path.empty() && seen_.size() < most_files && seen_.insert(path).second) {
    waiting_.push_back(path);
  }
}

/// Includes the file `path` if only git ignores it.
void NeededFiles::need(const std::string& path, const Mention& mention, const char* how) {
  if (ignore_.is_only_ignored_by_git(path, false)) {
    ignore_.keep(path,
                 fmt::format("`{}` line {} {} it", printable(mention.from), mention.line, how));
  }
}

void NeededFiles::need_file(const source::Entry& entry, const Mention& mention) {
  if (entry.size <= largest_named) {
    need(entry.path, mention, "names");
  } else if (ignore_.is_only_ignored_by_git(entry.path, false)) {
    too_large_.push_back({.path = entry.path, .from = mention.from, .line = mention.line});
  }
}

void NeededFiles::report_too_large() {
  if (too_large_.empty()) {
    return;
  }
  const Mention& first = too_large_.front();
  const auto entry = findings_->tree().find(first.path);
  std::string message = fmt::format(
      "`{}` ({}) stays out: git ignores it, but `{}` line {} names it", printable(first.path),
      human_size(entry ? entry->size : 0), printable(first.from), first.line);
  if (too_large_.size() > 1) {
    message += fmt::format("; so do {} more", too_large_.size() - 1);
  }
  findings_->warn(std::move(message), {},
                  {fmt::format("`{}` includes it", source::include_flag(first.path))});
}

void NeededFiles::read(const std::string& path) {
  const auto place = findings_->follow(path);
  if (!place.is_file() || place.entry.size > largest_code) {
    return;
  }
  if (!path.ends_with(".py") && !python_starts_.contains(path)) {
    read_words(path, findings_->tree().read(place.entry.path));
    return;
  }
  const auto known = python_files_.find(path);
  const PythonFile& file =
      known != python_files_.end() ? known->second : python_files_[path] = read_python(place.entry);
  for (const Import& import : file.imports) {
    read_import(path, import);
    if (loads_environment(import) && !loads_environment_) {
      loads_environment_ = Mention{.from = path, .line = import.line};
    }
  }
  Mention mention{.from = path};
  for (const PythonString& string : file.strings) {
    mention.line = string.line;
    if (!string.computed) {
      name(string.text, mention);
      continue;
    }
    for (const std::string_view part : plain_parts(string.text)) {
      name(part, mention);
    }
  }
}

PythonFile NeededFiles::read_python(const source::Entry& entry) const {
  const auto& tree = findings_->tree();
  return remembered_ != nullptr ? remembered_->of(tree, entry)
                                : read_python_file(tree.read(entry.path));
}

void NeededFiles::read_words(const std::string& path, std::string_view text) {
  for (const TextWord& word : words_of_text(text)) {
    name(word.text, {.from = path, .line = word.line});
    if (word.text.ends_with(".py")) {
      roots_.push_back(parent_path(tree_path(word.text, "")));
      sort_unique(roots_);
      visit(tree_path(word.text, ""));
    }
  }
}

/// Handles a possible path, or the end of one; relative to the working directory, or to the file
/// that contains it.
void NeededFiles::name(std::string_view text, const Mention& mention) {
  if (!may_be_path(text)) {
    return;
  }
  if (named_.contains(text)) {
    check_hidden(text, mention);
    return;
  }
  named_.emplace(text);
  words_.try_emplace(base_name(text), mention);
  const std::string beside = parent_path(mention.from);
  for (const std::string& directory : {std::string{}, beside}) {
    const std::string wanted = tree_path(text, directory);
    if (wanted.empty() || !may_hold(directory, wanted)) {
      continue;
    }
    if (const auto entry = findings_->tree().find(wanted)) {
      take_named(*entry, text, mention);
    }
    if (beside.empty()) {
      break;
    }
  }
  check_hidden(text, mention);
}

/// Returns false if the contents of `directory` show that `path` does not exist.
bool NeededFiles::may_hold(const std::string& directory, const std::string& path) {
  const std::size_t begin = directory.empty() ? 0 : directory.size() + 1;
  if (!is_below(path, directory) || path.size() <= begin) {
    return true;
  }
  const auto& paths = files_in(directory);
  return std::binary_search(paths.begin(), paths.end(), path.substr(0, path.find('/', begin)));
}

void NeededFiles::take_named(const source::Entry& entry,
                             std::string_view text,
                             const Mention& mention) {
  if (entry.type == source::EntryType::directory) {
    if (looked_into_.insert(entry.path).second) {
      directories_.push_back(entry.path);
      if (ignore_.is_only_ignored_by_git(entry.path, true) && !files_in(entry.path).empty()) {
        ignored_.emplace(entry.path, mention);
      }
    }
  } else if (entry.type == source::EntryType::file) {
    need_file(entry, mention);
    if (ignore_.excludes(entry.path) && !ignore_.is_only_ignored_by_git(entry.path, false)) {
      hidden_[std::string{text}].insert(entry.path);
    }
    if (is_settings(entry.path)) {
      visit(entry.path);
    }
  }
}

/// Handles paths that the program may compose from names: `os.path.join("data", name,
/// "train.bin")`.
void NeededFiles::look_into(const std::string& directory) {
  source::SelectionWalk selected{ignore_};
  source::walk(
      findings_->tree(), directory,
      [&](const source::Entry&) { return looked_at_ < most_looked_at; },
      [&](std::string_view, const std::vector<source::Entry>& entries) {
        looked_at_ += entries.size();
        return true;
      },
      [&](const source::Entry& entry) {
        if (entry.type != source::EntryType::file) {
          return;
        }
        const auto word = words_.find(base_name(entry.path));
        if (word != words_.end() && selected.excludes(entry)) {
          need_file(entry, word->second);
        } else if (is_settings(entry.path) && entry.size <= largest_code) {
          visit(entry.path);
        }
      });
}

const std::vector<std::string>& NeededFiles::files_in(const std::string& directory) {
  const auto [known, is_new] = listed_.try_emplace(directory);
  if (is_new) {
    for (const auto& entry : findings_->tree().list(directory)) {
      known->second.push_back(entry.path);
    }
  }
  return known->second;
}

}  // namespace autopack::project
