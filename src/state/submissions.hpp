#pragma once

#include "base/descriptor.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace autopack::state {

/// Records something that is about to be created, until the result is known. If a run is killed,
/// its record stays, and the next run of the same submission takes it over.
class Submission {
public:
  /// Opens the record of `key` that a run left in `directory` within the last day, else writes a
  /// new one with `id`. If that fails, there is only the id; it does not throw.
  Submission(const std::optional<std::filesystem::path>& directory,
             const std::string& key,
             std::string id);

  const std::string& id() const { return id_; }

  /// True if an earlier run wrote it.
  bool is_left() const { return is_left_; }

  /// Returns nothing if the record could not be written.
  const std::optional<std::filesystem::path>& file() const { return file_; }

  /// Removes the record, because the result is known.
  void settle();

private:
  bool take_over(const std::filesystem::path& file);
  void write(const std::filesystem::path& directory, const std::string& key);

  std::string id_;
  bool is_left_{false};
  std::optional<std::filesystem::path> file_{};
  FileDescriptor lock_{-1};
};

}  // namespace autopack::state
