#pragma once

#include "project/findings.hpp"
#include "project/static_installation.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::project {

/// A tree, without what rules keep out of it, that remembers what was looked at.
class LookingTree {
public:
  explicit LookingTree(Findings findings) : findings_{std::move(findings)} {}

  bool is_file(const std::string& path);
  bool is_directory(const std::string& path);

  /// The text of a file of at most `limit` bytes; none when there is no such file or a link leads
  /// to it.
  std::optional<std::string> read(const std::string& path, std::size_t limit);

  /// The names of directories in `directory` that a module can have, sorted.
  std::vector<std::string> packages_in(const std::string& directory);
  /// The names of Python files in `directory` without their suffix, the same way.
  std::vector<std::string> modules_in(const std::string& directory);
  /// The files at the root, sorted by name; not remembered.
  std::vector<std::string> files_at_root() const;

  const LookedAt& looked() const { return looked_; }

private:
  std::vector<std::string> list(const std::string& directory, source::EntryType type) const;

  Findings findings_;
  LookedAt looked_{};
};

}  // namespace autopack::project
