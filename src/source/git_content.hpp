#pragma once

#include "source/git_repository.hpp"
#include "source/tree.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::source {

inline constexpr Obstacle merge_conflict{"a file with a merge conflict",
                                         "resolve it, then `git add` it"};

/// The content of a blob after a checkout.
struct GitContent {
  std::uint64_t size{0};
  std::optional<std::string> identity{};  ///< of the bytes; absent if a filter made them
  const Obstacle* obstacle{nullptr};  ///< why a checkout alone does not produce them; may be null
};

/// Reads blobs as `git checkout` would write them: line ends by the `.gitattributes` of the same
/// index, Git LFS files from the clone's store. Thread-safe.
class GitContents {
public:
  /// `repository` must outlive this object; it keeps `index` for attributes.
  GitContents(git_repository* repository, git_index* index);

  /// Returns the content of `path` in the repository, a file with the blob `id`, after a checkout.
  GitContent look(const std::string& path, const git_oid& id) const;
  std::string read(const std::string& path, const git_oid& id) const;
  /// Returns the unchanged blob. Throws Error(project) if the repository lacks it.
  std::string read_raw(const std::string& path, const git_oid& id) const;

private:
  struct Attributes {
    bool lfs{false};
    bool foreign_filter{false};
    bool encoding{false};
    bool ident{false};
  };

  Attributes attributes_of(const std::string& path) const;
  GitBlob blob(const std::string& path, const git_oid& id) const;
  std::string checked_out(const std::string& path, const git_oid& id) const;
  std::filesystem::path lfs_file(std::string_view object) const;

  git_repository* repository_;
  bool has_attributes_{false};
  mutable std::mutex mutex_{};
};

}  // namespace autopack::source
