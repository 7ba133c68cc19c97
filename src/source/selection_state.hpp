#pragma once

#include "source/git_ignore_file.hpp"
#include "source/selection.hpp"

#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>

namespace autopack::source {

/// The directory of a path of the tree; "" at the root.
inline std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return path.substr(0, slash == std::string_view::npos ? 0 : slash);
}

/// What Selection knows, and found out on the way.
struct Selection::State {
  /// What was typed says of a path or of one above it.
  struct Typed {
    GitIgnoreFile::Match match{};
    std::string at{};        ///< the path that the pattern matched
    bool names_path{false};  ///< the pattern holds a slash: it means that very place
  };

  /// What holds for all in one directory.
  struct Directory {
    Typed typed{};
    GitIgnoreFile::Match uploaded{};  ///< of `.gcloudignore`
    const Rule* git_rule{nullptr};    ///< git's that leaves the directory out
    std::shared_ptr<const std::vector<const GitIgnoreFile*>> git_files{};  ///< strongest first
    std::string repository{};  ///< the directory where its repository begins; "" for the outer one
    std::optional<std::string> environment{};  ///< the virtual environment that it is in
  };

  State();

  /// Held by Selection and SelectionWalk while they ask: what is found out on the way changes.
  std::mutex mutex{};

  std::optional<Rule> judge(std::string_view path, bool is_directory, bool looks_inside);
  bool may_hold_exceptions(std::string_view path);
  bool is_ignored_by_git(std::string_view path, bool is_directory);
  /// `entries` is what the directory holds; null: it is looked up.
  const Directory& directory(std::string_view path, const std::vector<Entry>* entries = nullptr);
  Typed typed_of(std::string_view path, bool is_directory, const Typed& above) const;
  bool is_kept(std::string_view path) const;
  bool is_directory(std::string_view path) const;

  const Tree* tree{nullptr};
  IgnoreRules own{};  ///< the built-in ones and those of `.dockerignore`
  IgnoreWalk own_walk{own};
  IgnoreWalk built_in_walk{IgnoreRules::defaults_and_project_files()};  ///< for what was typed
  GitIgnoreFile include{};
  GitIgnoreFile exclude{};
  std::optional<Rule> include_all{};
  GitIgnoreFile uploaded{};  ///< `.gcloudignore`
  std::shared_ptr<const GitWorkTree> git{};
  std::map<std::string, std::string> kept{};
  std::set<std::string, std::less<>> kept_paths{};

private:
  const std::vector<std::string>& tracked(const std::string& repository);
  bool is_tracked(const std::string& repository, std::string_view path, bool or_below);
  const Rule* git_rule(const Directory& above, std::string_view path, bool is_directory);
  void read_git_file(Directory& directory, std::string_view path, bool begins_repository);
  void begin_git(Directory& top);
  Directory made(std::string_view path, const std::vector<Entry>* entries);
  bool beats_built_in(const Typed& typed, std::string_view path, const Directory& above);

  using Directories = std::map<std::string, Directory, std::less<>>;
  Directories directories_{};
  const Directories::value_type* last_{nullptr};  ///< that was asked for
  std::list<GitIgnoreFile> git_files_{};
  std::map<std::string, std::vector<std::string>> tracked_{};
  Rule environment_rule_{};
};

}  // namespace autopack::source
