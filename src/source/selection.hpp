#pragma once

#include "source/git_work_tree.hpp"
#include "source/ignore.hpp"
#include "source/tree.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// The typed rules of what goes into the image; patterns as in a `.gitignore`.
struct TypedRules {
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};
  std::vector<std::string> named{};  ///< paths that other flags name; included too
};

/// Decides which files of a tree go into the image: by typed rules, by an ignore file
/// (`.dockerignore`, else `.gcloudignore`, else git's rules), and by autopack's own rules.
/// Copies share cached results, and kept paths. Thread-safe.
class Selection {
public:
  /// Includes everything.
  Selection();
  /// Includes what docker's `rules` include.
  Selection(IgnoreRules rules);  // NOLINT(google-explicit-constructor)
  /// Applies all rules to `tree`, which must outlive all copies. `git` may be null.
  Selection(const Tree& tree, const TypedRules& typed, std::shared_ptr<const GitWorkTree> git);

  /// Returns the rule that excludes `path`; nothing if it is included.
  std::optional<Rule> excludes(std::string_view path) const;
  /// Returns false if nothing below the excluded directory `path` is included.
  bool may_hold_exceptions(std::string_view path) const;

  /// Returns true if git's rules exclude `path`, so that keep() includes it again.
  bool is_only_ignored_by_git(std::string_view path) const;
  /// The same, without reading the tree.
  bool is_only_ignored_by_git(std::string_view path, bool is_directory) const;
  /// Returns true if git's rules apply at all.
  bool asks_git() const;
  /// Includes `path` and everything below it, although git ignores it. `why` is for people.
  void keep(const std::string& path, const std::string& why);
  /// Returns the kept paths and their reasons.
  std::map<std::string, std::string> kept() const;

  /// Returns true if a typed rule names `path` or a directory above it.
  bool was_asked_for(std::string_view path) const;

  /// Returns the rules as a Dockerfile's `.dockerignore`, as exactly as docker's syntax allows.
  std::string text() const;

private:
  friend class SelectionWalk;
  struct State;
  std::shared_ptr<State> state_;
};

/// Selection::excludes for a walk from the root; looks up nothing twice.
class SelectionWalk {
public:
  /// `selection` must outlive this object.
  explicit SelectionWalk(const Selection& selection);
  ~SelectionWalk();
  SelectionWalk(const SelectionWalk&) = delete;
  SelectionWalk& operator=(const SelectionWalk&) = delete;

  std::optional<Rule> excludes(const Entry& entry);

  /// Sets the contents of `directory`; call it before queries about them. Returns a rule if the
  /// directory is excluded because of its contents (a virtual environment).
  std::optional<Rule> enter(std::string_view directory, const std::vector<Entry>& entries);

private:
  std::shared_ptr<Selection::State> state_;
};

}  // namespace autopack::source
