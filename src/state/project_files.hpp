#pragma once

#include <filesystem>

namespace autopack::state {

// Paths in `cache` for facts about the files of the project in `directory`. Files from git's
// objects and files on the disk have separate paths.

/// Returns the path of the table of hashes, see FileHashes.
std::filesystem::path hashes_file(const std::filesystem::path& cache,
                                  const std::filesystem::path& directory,
                                  bool is_from_git);

/// Returns the path of the facts about its Python files.
std::filesystem::path python_file(const std::filesystem::path& cache,
                                  const std::filesystem::path& directory,
                                  bool is_from_git);

/// Returns the path of Pythons' verdicts about their syntax.
std::filesystem::path syntax_file(const std::filesystem::path& cache,
                                  const std::filesystem::path& directory,
                                  bool is_from_git);

}  // namespace autopack::state
