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

/// The command that lets git open the repository at `path` although it is another user's, as a
/// hint.
std::string trusting_command(const std::filesystem::path& path);

/// What libgit2 said last, as an error's cause; never empty.
std::string git_reason();

/// A project directory in its repository.
struct GitPlace {
  GitRepository repository{};
  std::optional<std::filesystem::path> work_tree{};  ///< none for a bare repository
  std::filesystem::path index_file{};
  std::string prefix{};  ///< the directory in the repository's tree; "" for its root

  /// The commit of HEAD; none before the first one.
  std::optional<git_oid> head() const;
  /// `path` in the repository's tree.
  std::string full_path(std::string_view path) const;
  /// The repository for messages.
  std::string describe() const;
};

/// The repository of `directory`, found as git finds it; none when there is none. Throws
/// Error(environment) for one that git would not open, Error(usage) for variables that name
/// another.
std::optional<GitPlace> find_git_place(const std::filesystem::path& directory,
                                       const Environment& environment);

/// The same repository without a working tree, so that no attribute is read from the disk.
GitRepository open_without_work_tree(const GitPlace& place);

/// The 40 hexadecimal digits of `id`.
std::string hex(const git_oid& id);

/// The commit that `revision` names. Throws Error(usage) when it names none.
GitObject find_commit(const GitPlace& place, const std::string& revision);
GitTreeObject tree_of_commit(const git_object& commit);
/// The index that is there now. Throws Error(project) for one that cannot be read.
GitIndex open_index(const GitPlace& place);

/// find_git_place, and Error(usage) when there is none to take `--source=source` from.
GitPlace need_git_place(const std::filesystem::path& directory,
                        const std::string& source,
                        const Environment& environment);
/// What `source`, `index` or a revision, holds. Throws as open_index and find_commit do.
GitIndex open_source(const GitPlace& place, const std::string& source);
/// The same for messages.
std::string describe_source(const GitPlace& place, const std::string& source);

}  // namespace autopack::source
