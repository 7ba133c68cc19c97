#include "state/project_files.hpp"

#include "base/digest.hpp"

namespace autopack::state {

namespace {

std::string name_of(const std::filesystem::path& directory, bool is_from_git) {
  const auto whole = std::filesystem::weakly_canonical(directory).string();
  return sha256(whole + (is_from_git ? " git" : "")).hex();
}

}  // namespace

std::filesystem::path hashes_file(const std::filesystem::path& cache,
                                  const std::filesystem::path& directory,
                                  bool is_from_git) {
  return cache / "files" / name_of(directory, is_from_git);
}

std::filesystem::path python_file(const std::filesystem::path& cache,
                                  const std::filesystem::path& directory,
                                  bool is_from_git) {
  return cache / "python" / name_of(directory, is_from_git);
}

std::filesystem::path syntax_file(const std::filesystem::path& cache,
                                  const std::filesystem::path& directory,
                                  bool is_from_git) {
  return cache / "syntax" / name_of(directory, is_from_git);
}

}  // namespace autopack::state
