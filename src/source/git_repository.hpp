#pragma once

#include "base/environment.hpp"
#include "base/error.hpp"
#include "source/git_functions.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace autopack::source {

template <auto release>
struct GitRelease {
  template <class Object>
  void operator()(Object* object) const {
    (git().*release)(object);
  }
};

using GitRepository = std::unique_ptr<git_repository, GitRelease<&GitFunctions::repository_free>>;
using GitIndex = std::unique_ptr<git_index, GitRelease<&GitFunctions::index_free>>;
using GitObject = std::unique_ptr<git_object, GitRelease<&GitFunctions::object_free>>;
using GitBlob = std::unique_ptr<git_blob, GitRelease<&GitFunctions::blob_free>>;
using GitTreeObject = std::unique_ptr<git_tree, GitRelease<&GitFunctions::tree_free>>;
using GitReference = std::unique_ptr<git_reference, GitRelease<&GitFunctions::reference_free>>;
using GitConfig = std::unique_ptr<git_config, GitRelease<&GitFunctions::config_free>>;
using GitFilters = std::unique_ptr<git_filter_list, GitRelease<&GitFunctions::filter_list_free>>;

/// Returns a hint with the command that lets git open the repository at `path` of another user.
std::string trusting_command(const std::filesystem::path& path);

/// Returns libgit2's last error as a cause; never empty.
std::string git_reason();

/// A project directory in its repository.
struct GitPlace {
  GitRepository repository{};
  std::optional<std::filesystem::path> work_tree{};  ///< absent for a bare repository
  std::filesystem::path index_file{};
  std::string prefix{};  ///< the directory in the repository's tree; "" for its root

  /// Returns the commit of HEAD; nothing before the first one.
  std::optional<git_oid> head() const;
  /// Returns `path` in the repository's tree.
  std::string full_path(std::string_view path) const;
  /// Returns the repository for messages.
  std::string describe() const;
};

/// Returns the repository of `directory`, found as git does, or nothing if there is none. Throws
/// Error(environment) for one that git would not open, Error(usage) for variables that name
/// another.
std::optional<GitPlace> find_git_place(const std::filesystem::path& directory,
                                       const Environment& environment);

/// Opens the same repository without a working tree, so that no attributes are read from the disk.
GitRepository open_without_work_tree(const GitPlace& place);

/// Returns the 40 hexadecimal digits of `id`.
std::string hex(const git_oid& id);

/// Returns the commit that `revision` names. Throws Error(usage) if there is none.
GitObject find_commit(const GitPlace& place, const std::string& revision);
GitTreeObject tree_of_commit(const git_object& commit);
/// Returns the current index. Throws Error(project) if it is unreadable.
GitIndex open_index(const GitPlace& place);

/// Calls find_git_place; throws Error(usage) if there is no repository for `--source=source`.
GitPlace need_git_place(const std::filesystem::path& directory,
                        const std::string& source,
                        const Environment& environment);
/// Returns the contents of `source`, `index` or a revision. Throws as open_index and find_commit
/// do.
GitIndex open_source(const GitPlace& place, const std::string& source);
/// Returns `source` for messages.
std::string describe_source(const GitPlace& place, const std::string& source);

}  // namespace autopack::source
