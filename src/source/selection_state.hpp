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

/// Returns the directory of a path in the tree; "" at the root.
inline std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return path.substr(0, slash == std::string_view::npos ? 0 : slash);
}

/// The data of a Selection, and its cached results.
struct Selection::State {
  /// The decision of typed rules about a path or one above it.
  struct Typed {
    GitIgnoreFile::Match match{};
    std::string at{};        ///< the path that the pattern matched
    bool names_path{false};  ///< the pattern contains a slash: it means exactly that path
  };

  /// Facts that apply to everything in one directory.
  struct Directory {
    Typed typed{};
    GitIgnoreFile::Match uploaded{};  ///< of `.gcloudignore`
    const Rule* git_rule{nullptr};    ///< git's rule that excludes the directory
    std::shared_ptr<const std::vector<const GitIgnoreFile*>> git_files{};  ///< highest precedence
                                                                           ///< first
    std::string repository{};  ///< the directory where its repository begins; "" for the outer one
    std::optional<std::string> environment{};  ///< the virtual environment that contains it
  };

  State();

  /// Locked by Selection and SelectionWalk during queries, because results are cached.
  std::mutex mutex{};

  std::optional<Rule> judge(std::string_view path, bool is_directory, bool looks_inside);
  bool may_hold_exceptions(std::string_view path);
  bool is_ignored_by_git(std::string_view path, bool is_directory);
  /// `entries` are the contents of the directory; null: listed here.
  const Directory& directory(std::string_view path, const std::vector<Entry>* entries = nullptr);
  Typed typed_of(std::string_view path, bool is_directory, const Typed& above) const;
  bool is_kept(std::string_view path) const;
  bool is_directory(std::string_view path) const;

  const Tree* tree{nullptr};
  IgnoreRules own{};  ///< the built-in ones and those of `.dockerignore`
  IgnoreWalk own_walk{own};
  IgnoreWalk built_in_walk{IgnoreRules::defaults_and_project_files()};  ///< for typed rules
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
  const Directories::value_type* last_{nullptr};  ///< the last one that was requested
  std::list<GitIgnoreFile> git_files_{};
  std::map<std::string, std::vector<std::string>> tracked_{};
  Rule environment_rule_{};
};

}  // namespace autopack::source
