#pragma once

#include "base/descriptor.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace autopack::state {

/// What is about to be created, written down for as long as it is not known what became of it. A
/// run that is killed leaves it behind, and the next run of the same submission takes it over.
class Submission {
public:
  /// The record of `key` that a run left in `directory` within the last day, else a new one with
  /// `id`. Where none can be written there is only the id: never throws for it.
  Submission(const std::optional<std::filesystem::path>& directory,
             const std::string& key,
             std::string id);

  const std::string& id() const { return id_; }

  /// True when a run before this one wrote it.
  bool is_left() const { return is_left_; }

  /// None when nothing could be written.
  const std::optional<std::filesystem::path>& file() const { return file_; }

  /// It is known what became of it: the record goes.
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
