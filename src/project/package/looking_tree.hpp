#pragma once

#include "project/findings.hpp"
#include "project/package/static_installation.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::project {

/// A tree without its excluded files, which records everything that was read.
class LookingTree {
public:
  explicit LookingTree(Findings findings) : findings_{std::move(findings)} {}

  bool is_file(const std::string& path);
  bool is_directory(const std::string& path);

  /// Returns the text of a file of at most `limit` bytes; nothing if there is no such file or it is
  /// a link.
  std::optional<std::string> read(const std::string& path, std::size_t limit);

  /// Returns the names of directories in `directory` that a module can have, sorted.
  std::vector<std::string> packages_in(const std::string& directory);
  /// Returns the names of Python files in `directory` without their suffix, likewise.
  std::vector<std::string> modules_in(const std::string& directory);
  /// Returns the files at the root, sorted by name; not recorded.
  std::vector<std::string> files_at_root() const;

  const LookedAt& looked() const { return looked_; }

private:
  std::vector<std::string> list(const std::string& directory, source::EntryType type) const;

  Findings findings_;
  LookedAt looked_{};
};

}  // namespace autopack::project
