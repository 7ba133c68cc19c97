#pragma once

#include "base/environment.hpp"
#include "source/git_pattern.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// An ignore file that is not in the tree whose files it is about.
struct OuterIgnoreFile {
  std::string name{};    ///< for messages
  std::string prefix{};  ///< what goes before a path of the tree to make one that its rules are of
  std::string text{};
};

/// What git says of a directory in a work tree, besides the ignore files in it.
struct GitWorkTree {
  std::string prefix{};                    ///< of the directory: empty, or ends with a slash
  std::vector<OuterIgnoreFile> outside{};  ///< the strongest first
  Letters letters{Letters::as_written};    ///< of the patterns of all ignore files
  /// Sorted paths of tracked files below `directory` of the tree, which is "" or where another
  /// repository begins; relative to that directory. Empty where it is none.
  std::function<std::vector<std::string>(std::string_view directory)> tracked{};
};

/// The work tree that `directory` is in; null when it is in none.
std::shared_ptr<const GitWorkTree> find_git_work_tree(const std::filesystem::path& directory,
                                                      const Environment& environment);

}  // namespace autopack::source
