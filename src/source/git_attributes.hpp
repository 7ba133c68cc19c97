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

/// The clone's own file of attributes, the user's and the machine's: those that are there.
std::vector<std::filesystem::path> attributes_outside(git_repository* repository);

/// git reads a pattern in double quotes as C does, libgit2 takes the quotes for part of the name;
/// git passes over a pattern that begins with `!`, libgit2 applies it to what it does not match.
/// Throws Error(project) naming the line when what follows such a pattern changes what is checked
/// out, by itself or as a macro of any of `files`.
void refuse_misread_patterns(const std::vector<GitAttributesFile>& files);

}  // namespace autopack::source
