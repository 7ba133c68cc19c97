#include "source/selection_state.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::source {

namespace {

using Decision = GitIgnoreFile::Decision;

bool is_at_or_below(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

std::string child(std::string_view directory, std::string_view name) {
  return directory.empty() ? std::string{name} : fmt::format("{}/{}", directory, name);
}

/// Returns true if `entries`, or the tree if there are none, have `name` in `directory`.
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
    try {
      const auto found = tree.find(path);
      return found && fits(*found);
    } catch (const Error&) {
      return false;  // an unreadable directory: listing it reports that
    }
  }
  const auto at = std::lower_bound(entries->begin(), entries->end(), path,
                                   [](const Entry& a, const std::string& b) { return a.path < b; });
  return at != entries->end() && at->path == path && fits(*at);
}

}  // namespace

Selection::State::State()
    : environment_rule_{.pattern = "a directory that holds `pyvenv.cfg` or `conda-meta/history`",
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
    // As in git: nothing below an excluded path is included again.
    made.uploaded = above.uploaded.decision == Decision::out ? above.uploaded : match;
    if (made.uploaded.decision == Decision::in && !own_walk.excludes(path)) {
      made.uploaded = {};  // it negated another rule of the file, not one of autopack's
    }
  }
  if (tree == nullptr) {
    return made;
  }
  const bool is_environment =
      !made.environment && (holds(*tree, path, entries, "pyvenv.cfg", true) ||
                            (holds(*tree, path, entries, "conda-meta", false) &&
                             holds(*tree, child(path, "conda-meta"), nullptr, "history", true)));
  if (is_environment) {
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

/// Returns whether a typed pattern that includes `path` overrides autopack's own exclusion: it
/// names the excluded path, or a path in it.
bool Selection::State::beats_built_in(const Typed& typed,
                                      std::string_view path,
                                      const Directory& above) {
  if (above.environment) {
    const bool is_in_it = is_at_or_below(typed.at, *above.environment);
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
  if (nearest.environment) {
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
  const bool is_built_in =
      built_in_walk.excludes(path).has_value() || (tree != nullptr && directory(path).environment);
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
