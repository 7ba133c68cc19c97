#include "source/selection_state.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::source {

namespace {

using Decision = GitIgnoreFile::Decision;

constexpr std::uint64_t largest_ignore_file{1'000'000};

std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return path.substr(0, slash == std::string_view::npos ? 0 : slash);
}

bool is_at_or_below(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

std::string child(std::string_view directory, std::string_view name) {
  return directory.empty() ? std::string{name} : fmt::format("{}/{}", directory, name);
}

/// True when `entries`, or the tree when there are none, have `name` in `directory`.
bool holds(const Tree& tree,
           std::string_view directory,
           const std::vector<Entry>* entries,
           std::string_view name,
           bool only_a_file) {
  const std::string path = child(directory, name);
  const auto fits = [&](const Entry& entry) {
    return !only_a_file || entry.type == EntryType::file;
  };
  if (entries == nullptr) {
    const auto found = tree.find(path);
    return found && fits(*found);
  }
  const auto at = std::lower_bound(entries->begin(), entries->end(), path,
                                   [](const Entry& a, const std::string& b) { return a.path < b; });
  return at != entries->end() && at->path == path && fits(*at);
}

/// True when git ignores the directory of the tree itself, or one above it.
bool is_ignored_whole(const GitWorkTree& git) {
  const std::string_view whole{git.prefix};
  for (auto end = whole.find('/'); end != std::string_view::npos; end = whole.find('/', end + 1)) {
    for (const auto& file : git.outside) {
      const std::size_t base = whole.size() - file.prefix.size();
      const auto match = end <= base ? GitIgnoreFile::Match{}
                                     : GitIgnoreFile{file.text, file.name, "", 0}.decide(
                                           whole.substr(base, end - base), true);
      if (match.decision == Decision::out) {
        return true;
      }
      if (match.decision == Decision::in) {
        break;
      }
    }
  }
  return false;
}

}  // namespace

Selection::State::State()
    : environment_rule_{.pattern = "a directory that holds `pyvenv.cfg`",
                        .file = std::string{defaults_name}} {}

bool Selection::State::is_directory(std::string_view path) const {
  const auto entry = tree == nullptr ? std::nullopt : tree->find(path);
  return entry && entry->type == EntryType::directory;
}

Selection::State::Typed Selection::State::typed_of(std::string_view path,
                                                   bool is_directory,
                                                   const Typed& above) const {
  if (include.empty() && exclude.empty()) {
    return above;
  }
  for (const auto* file : {&exclude, &include}) {
    if (auto match = file->decide(path, is_directory); match.rule != nullptr) {
      const auto at = static_cast<std::size_t>(match.rule - file->rules().data());
      match.decision = file == &exclude ? Decision::out : Decision::in;
      return {.match = match,
              .at = std::string{path},
              .names_path = file->patterns()[at].is_anchored()};
    }
  }
  return above;
}

void Selection::State::begin_git(Directory& top) {
  if (is_ignored_whole(*git)) {
    return;  // who works there wants its files all the same
  }
  auto files = std::make_shared<std::vector<const GitIgnoreFile*>>();
  for (const auto& file : git->outside) {
    git_files_.emplace_back(file.text, file.name, file.prefix, 0);
    files->push_back(&git_files_.back());
  }
  top.git_files = std::move(files);
}

void Selection::State::read_git_file(Directory& directory,
                                     std::string_view path,
                                     bool begins_repository) {
  const std::string file = child(path, ".gitignore");
  const auto entry = tree->find(file);
  const bool is_there = entry && entry->type == EntryType::file;
  if (!is_there && !begins_repository) {
    return;
  }
  auto files = std::make_shared<std::vector<const GitIgnoreFile*>>();
  if (is_there) {
    if (entry->size > largest_ignore_file) {
      throw Error(ErrorKind::project, fmt::format("`{}` is too large for a file of rules: {}",
                                                  printable(file), human_size(entry->size)));
    }
    git_files_.emplace_back(tree->read(file), file, "", path.empty() ? 0 : path.size() + 1);
    files->push_back(&git_files_.back());
  }
  if (!begins_repository && directory.git_files) {
    files->insert(files->end(), directory.git_files->begin(), directory.git_files->end());
  }
  directory.git_files = std::move(files);
}

const Selection::State::Directory& Selection::State::directory(std::string_view path,
                                                               const std::vector<Entry>* entries) {
  if (last_ != nullptr && last_->first == path) {
    return last_->second;
  }
  auto known = directories_.find(path);
  if (known == directories_.end()) {
    known = directories_.emplace(std::string{path}, made(path, entries)).first;
  }
  last_ = &*known;
  return known->second;
}

Selection::State::Directory Selection::State::made(std::string_view path,
                                                   const std::vector<Entry>* entries) {
  if (path.empty()) {
    Directory top;
    if (include_all) {
      top.typed.match = {Decision::in, &*include_all};
    }
    if (git) {
      begin_git(top);
      read_git_file(top, path, false);
    }
    return top;
  }
  const Directory& above = directory(parent_of(path));
  Directory made{.typed = typed_of(path, true, above.typed),
                 .uploaded = above.uploaded,
                 .git_rule = above.git_rule,
                 .git_files = above.git_files,
                 .repository = above.repository,
                 .environment = above.environment};
  if (auto match = uploaded.decide(path, true); match.rule != nullptr) {
    // As git: nothing comes back below what is left out.
    made.uploaded = above.uploaded.decision == Decision::out ? above.uploaded : match;
    if (made.uploaded.decision == Decision::in && !own_walk.excludes(path)) {
      made.uploaded = {};  // it took back another rule of the file, none of autopack's
    }
  }
  if (tree == nullptr) {
    return made;
  }
  if (made.environment.empty() && holds(*tree, path, entries, "pyvenv.cfg", true)) {
    made.environment = path;
  }
  if (git && made.git_rule == nullptr) {
    made.git_rule = git_rule(above, path, true);
    if (made.git_rule == nullptr) {
      const bool begins_repository = holds(*tree, path, entries, ".git", false);
      if (begins_repository) {
        made.repository = path;
      }
      if (begins_repository || holds(*tree, path, entries, ".gitignore", true)) {
        read_git_file(made, path, begins_repository);
      }
    }
  }
  return made;
}

const std::vector<std::string>& Selection::State::tracked(const std::string& repository) {
  const auto [known, is_new] = tracked_.try_emplace(repository);
  if (is_new) {
    known->second = git->tracked(repository);
  }
  return known->second;
}

bool Selection::State::is_tracked(const std::string& repository,
                                  std::string_view path,
                                  bool or_below) {
  const auto& paths = tracked(repository);
  const std::string inside{path.substr(repository.empty() ? 0 : repository.size() + 1)};
  if (std::binary_search(paths.begin(), paths.end(), inside)) {
    return true;
  }
  const std::string below = inside + "/";
  const auto first = std::lower_bound(paths.begin(), paths.end(), below);
  return or_below && first != paths.end() && first->starts_with(below);
}

const Rule* Selection::State::git_rule(const Directory& above,
                                       std::string_view path,
                                       bool is_directory) {
  if (above.git_rule != nullptr) {
    return is_tracked(above.repository, path, false) ? nullptr : above.git_rule;
  }
  if (!above.git_files) {
    return nullptr;
  }
  for (const GitIgnoreFile* file : *above.git_files) {
    const auto match = file->decide(path, is_directory);
    if (match.decision == Decision::in) {
      return nullptr;
    }
    if (match.decision == Decision::out) {
      return is_tracked(above.repository, path, false) ? nullptr : match.rule;
    }
  }
  return nullptr;
}

bool Selection::State::is_ignored_by_git(std::string_view path, bool is_directory) {
  return git && !path.empty() &&
         git_rule(directory(parent_of(path)), path, is_directory) != nullptr;
}

bool Selection::State::is_kept(std::string_view path) const {
  if (kept.empty()) {
    return false;
  }
  for (auto end = path.find('/');; end = path.find('/', end + 1)) {
    if (kept_paths.contains(path.substr(0, end))) {
      return true;
    }
    if (end == std::string_view::npos) {
      return false;
    }
  }
}

/// Whether a typed pattern that takes `path` in meant what autopack leaves out by itself: it names
/// that, or a place in it.
bool Selection::State::beats_built_in(const Typed& typed,
                                      std::string_view path,
                                      const Directory& above) {
  if (!above.environment.empty()) {
    const bool is_in_it = is_at_or_below(typed.at, above.environment);
    if (!is_in_it || (!typed.names_path && typed.at != above.environment)) {
      return false;
    }
  }
  if (!built_in_walk.excludes(path)) {
    return true;
  }
  const auto parent = parent_of(typed.at);
  return built_in_walk.excludes(typed.at) &&
         (typed.names_path || parent.empty() || !built_in_walk.excludes(parent));
}

std::optional<Rule> Selection::State::judge(std::string_view path,
                                            bool is_directory,
                                            bool looks_inside) {
  if (path.empty()) {
    return std::nullopt;
  }
  const Directory& above = directory(parent_of(path));
  const Directory* inside = is_directory && looks_inside ? &directory(path) : nullptr;
  const Directory& nearest = inside != nullptr ? *inside : above;
  const Typed typed = typed_of(path, is_directory, above.typed);
  if (typed.match.decision == Decision::out) {
    return *typed.match.rule;
  }
  if (typed.match.decision == Decision::in && beats_built_in(typed, path, nearest)) {
    return std::nullopt;
  }
  auto match = above.uploaded;
  if (match.decision != Decision::out) {
    if (const auto here = uploaded.decide(path, is_directory); here.rule != nullptr) {
      match = here;
    }
  }
  if (match.decision == Decision::in) {
    return std::nullopt;
  }
  if (auto rule = own_walk.excludes(path)) {
    auto built_in_rule =
        typed.match.decision == Decision::in ? built_in_walk.excludes(path) : std::nullopt;
    return built_in_rule ? built_in_rule : rule;
  }
  if (!nearest.environment.empty()) {
    return environment_rule_;
  }
  if (match.decision == Decision::out) {
    return typed.match.decision == Decision::in ? std::nullopt : std::optional{*match.rule};
  }
  if (!git || typed.match.decision == Decision::in) {
    return std::nullopt;
  }
  const Rule* rule = git_rule(above, path, is_directory);
  return rule == nullptr || is_kept(path) ? std::nullopt : std::optional{*rule};
}

bool Selection::State::may_hold_exceptions(std::string_view path) {
  const bool is_built_in = built_in_walk.excludes(path).has_value() ||
                           (tree != nullptr && !directory(path).environment.empty());
  for (const GitPattern& pattern : include.patterns()) {
    if (pattern.is_anchored() ? pattern.may_match_below(path) : !is_built_in) {
      return true;
    }
  }
  if (own.may_hold_exceptions(path) || uploaded.may_bring_back_below(path)) {
    return true;
  }
  if (!git || is_built_in || own_walk.excludes(path)) {
    return false;
  }
  const std::string below = std::string{path} + "/";
  const auto kept_below = kept_paths.lower_bound(below);
  return is_tracked(directory(parent_of(path)).repository, path, true) ||
         (kept_below != kept_paths.end() && kept_below->starts_with(below));
}

}  // namespace autopack::source
