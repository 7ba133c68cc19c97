#pragma once

#include "source/git_functions.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace autopack::source {

/// A file of git attributes.
struct GitAttributesFile {
  std::string name{};  ///< for messages
  std::string text{};
};

/// Returns the existing attributes files of the clone, the user and the machine.
std::vector<std::filesystem::path> attributes_outside(git_repository* repository);

/// Finds patterns that git and libgit2 interpret differently. git reads a pattern in double quotes
/// as in C, libgit2 treats the quotes as part of the name; git ignores a pattern that begins with
/// `!`, libgit2 applies it to everything that it does not match. Throws Error(project) naming the
/// line if the attributes of such a pattern change a checkout, directly or as a macro of any of
/// `files`.
void refuse_misread_patterns(const std::vector<GitAttributesFile>& files);

}  // namespace autopack::source
