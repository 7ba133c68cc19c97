#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::state {

/// What an image was made of, as far as telling a change needs it: names, hashes, and requirements
/// as normalised lines. No content of a file, no secret.
struct BuildRecord {
  using Values = std::map<std::string, std::string>;

  std::string dependency_key{};
  std::string image_key{};
  /// By a name for people; a value that starts with `#` is a hash, not to be shown.
  Values dependency_facts{};
  Values image_facts{};
  std::vector<std::string> requirements{};  ///< lines of the requirement files, in order
  std::vector<std::string> asked{};         ///< requirements of the command line
  Values requirement_files{};               ///< path to hash
  Values installed{};                       ///< what else the installation reads: path to hash
  Values code{};                            ///< path to kind and hash

  bool operator==(const BuildRecord&) const = default;
};

/// The last record of each project directory for each platform (`linux/amd64`), one small file
/// each. A damaged one counts as absent; a failure to write is no error.
class BuildRecords {
public:
  /// `limit` bounds the directory, in bytes; the oldest files go first.
  explicit BuildRecords(std::filesystem::path directory, std::uint64_t limit = 16'000'000)
      : directory_{std::move(directory)}, limit_{limit} {}

  std::optional<BuildRecord> get(const std::filesystem::path& project,
                                 const std::string& platform) const;
  void put(const std::filesystem::path& project,
           const std::string& platform,
           const BuildRecord& record) const;
  /// The files of the records of `project`, for all platforms.
  std::vector<std::filesystem::path> files_of(const std::filesystem::path& project) const;

private:
  std::filesystem::path file_of(const std::filesystem::path& project,
                                const std::string& platform) const;

  std::filesystem::path directory_;
  std::uint64_t limit_;
};

}  // namespace autopack::state
