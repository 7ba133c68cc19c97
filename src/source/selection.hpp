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

/// What the user types of what goes in; patterns as in a `.gitignore`.
struct TypedRules {
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};
  std::vector<std::string> named{};  ///< paths that other flags name; go in as if included
};

/// Which files of a tree go into the image: by what was typed, by an ignore file (`.dockerignore`,
/// else `.gcloudignore`, else what git ignores), and by autopack's own rules.
///
/// Copies share what they found out, and what is kept. Several threads may ask at once.
class Selection {
public:
  /// Everything goes in.
  Selection();
  /// What docker's `rules` leave.
  Selection(IgnoreRules rules);  // NOLINT(google-explicit-constructor)
  /// What all rules leave of `tree`, which must outlive all copies. `git` may be null.
  Selection(const Tree& tree, const TypedRules& typed, std::shared_ptr<const GitWorkTree> git);

  /// The rule that leaves `path` out; none when it goes in.
  std::optional<Rule> excludes(std::string_view path) const;
  /// False when nothing below the directory `path`, which is left out, goes in.
  bool may_hold_exceptions(std::string_view path) const;

  /// True when git's rules leave `path` out, so that keep() brings it back.
  bool is_only_ignored_by_git(std::string_view path) const;
  /// The same, without a look at the tree.
  bool is_only_ignored_by_git(std::string_view path, bool is_directory) const;
  /// True when git's rules count at all.
  bool asks_git() const;
  /// Takes in `path`, and all below it, though git ignores it. `why` is for people.
  void keep(const std::string& path, const std::string& why);
  /// What was kept, by path.
  std::map<std::string, std::string> kept() const;

  /// True when what was typed names `path` or a directory above it.
  bool was_asked_for(std::string_view path) const;

  /// The rules as a Dockerfile's `.dockerignore`, as near as docker's syntax comes.
  std::string text() const;

private:
  friend class SelectionWalk;
  struct State;
  std::shared_ptr<State> state_;
};

/// Selection::excludes for a walk from the root: nothing is looked up twice.
class SelectionWalk {
public:
  /// `selection` must outlive this object.
  explicit SelectionWalk(const Selection& selection);
  ~SelectionWalk();
  SelectionWalk(const SelectionWalk&) = delete;
  SelectionWalk& operator=(const SelectionWalk&) = delete;

  std::optional<Rule> excludes(const Entry& entry);

  /// Tells what `directory` holds, before anything in it is asked about. A rule when the directory
  /// is left out for what it holds (a virtual environment).
  std::optional<Rule> enter(std::string_view directory, const std::vector<Entry>& entries);

private:
  std::shared_ptr<Selection::State> state_;
};

}  // namespace autopack::source
