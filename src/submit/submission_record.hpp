#pragma once

#include "base/descriptor.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace autopack::submit {

/// Records a job that is about to be created, until the result is known. If a run is killed,
/// its record stays, and the next run of the same submission takes it over.
class Submission {
public:
  /// Opens the record of `key` that a run left in `directory` within the last day, else writes a
  /// new one with `id` and `content`. If that fails, there is only the id; it does not throw.
  Submission(const std::optional<std::filesystem::path>& directory,
             const std::string& key,
             std::string id,
             const std::string& content);

  const std::string& id() const { return id_; }

  /// True if an earlier run wrote it.
  bool is_left() const { return is_left_; }

  /// Returns nothing if the record could not be written.
  const std::optional<std::filesystem::path>& file() const { return file_; }

  /// Removes the record, because the result is known.
  void settle();

private:
  bool take_over(const std::filesystem::path& file);
  void write(const std::filesystem::path& directory,
             const std::string& key,
             const std::string& content);

  std::string id_;
  bool is_left_{false};
  std::optional<std::filesystem::path> file_{};
  FileDescriptor lock_{-1};
};

/// Returns random text for Submission.
std::string new_submission_id();

/// Returns true if `text` has the form of a submission's id.
bool is_submission_id(const std::string& text);

/// Returns true if the record `file` is too old to be taken over.
bool is_old_record(const std::filesystem::path& file);

}  // namespace autopack::submit
