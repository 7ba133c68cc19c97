#pragma once

#include <filesystem>

namespace autopack::state {

// Where `cache` keeps what it knows of the files of the project in `directory`; of those in git's
// objects apart from those on the disk.

/// The table of their hashes, see FileHashes.
std::filesystem::path hashes_file(const std::filesystem::path& cache,
                                  const std::filesystem::path& directory,
                                  bool is_from_git);

/// What its Python files say.
std::filesystem::path python_file(const std::filesystem::path& cache,
                                  const std::filesystem::path& directory,
                                  bool is_from_git);

/// What Pythons said of their syntax.
std::filesystem::path syntax_file(const std::filesystem::path& cache,
                                  const std::filesystem::path& directory,
                                  bool is_from_git);

}  // namespace autopack::state
