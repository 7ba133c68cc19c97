#pragma once

#include "state/store.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::state {

/// The inputs of an image, as far as explaining a change needs them: names, hashes, and
/// requirements as normalised lines. It contains no file contents and no secrets.
struct BuildRecord {
  using Values = std::map<std::string, std::string>;

  std::string dependency_key{};
  std::string image_key{};
  /// By a name for people. A value that starts with `#` is a hash and is not displayed.
  Values dependency_facts{};
  Values image_facts{};
  std::vector<std::string> requirements{};  ///< lines of the requirement files, in order
  std::vector<std::string> asked{};         ///< requirements of the command line
  Values requirement_files{};               ///< path to hash
  Values installed{};                       ///< other inputs of the installation: path to hash
  Values code{};                            ///< path to kind and hash

  bool operator==(const BuildRecord&) const = default;
};

/// Stores the last record of each project directory for each platform (`linux/amd64`) in a small
/// file. Ignores damaged files and failures to write.
class BuildRecords {
public:
  /// `limit` is the size of the directory in bytes; the oldest files are removed first.
  explicit BuildRecords(std::filesystem::path directory, std::uint64_t limit = 16'000'000)
      : store_{std::move(directory), limit, version} {}

  std::optional<BuildRecord> get(const std::filesystem::path& project,
                                 const std::string& platform) const;
  void put(const std::filesystem::path& project,
           const std::string& platform,
           const BuildRecord& record) const;
  /// Returns the files with the records of `project`, for all platforms.
  std::vector<std::filesystem::path> files_of(const std::filesystem::path& project) const;

private:
  static std::string name_of(const std::filesystem::path& project, const std::string& platform);

  static constexpr int version{1};

  Store store_;
};

}  // namespace autopack::state
