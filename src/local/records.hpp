#pragma once

#include "base/descriptor.hpp"
#include "google/logging.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::local {

/// The record of a job that ran here: its resource in the API's form, and its log. Only this user
/// can read it.
class JobRecord {
public:
  explicit JobRecord(std::filesystem::path directory) : directory_{std::move(directory)} {}

  /// Returns `local/1795170393174`.
  std::string name() const { return "local/" + directory_.filename().string(); }

  std::string id() const { return directory_.filename().string(); }

  const std::filesystem::path& directory() const { return directory_; }

  /// Returns the job, or null if it cannot be read. A job whose run was killed has failed.
  nlohmann::json job() const;
  /// Replaces the job. Throws Error(environment).
  void put(const nlohmann::json& job) const;

  /// Returns the log entries from byte `offset`, and advances it; whole lines only.
  std::vector<google::LogEntry> entries(std::uint64_t& offset) const;

  /// Requests the end of the job from the process that runs it.
  void ask_for_end() const;
  bool is_asked_for_end() const;
  /// Records that this process runs the job, and clears an earlier request to end.
  void own() const;

private:
  bool has_lost_its_owner() const;

  std::filesystem::path directory_;
};

/// Writes the log of a job; used by the process that runs it.
class LogWriter {
public:
  explicit LogWriter(const JobRecord& record);

  /// Writes an entry, unless the log has 256 MiB. Never throws.
  void write(const google::LogEntry& entry) noexcept;

private:
  FileDescriptor file_;
  std::uint64_t size_{0};
};

/// The jobs that ran on this machine, in their own directory.
class JobRecords {
public:
  /// `largest_logs` limits the logs of all jobs together, in bytes.
  explicit JobRecords(std::filesystem::path directory,
                      std::uint64_t largest_logs = std::uint64_t{1} << 30U)
      : directory_{std::move(directory)}, largest_logs_{largest_logs} {}

  /// Creates a record, named after the time in milliseconds. Removes the oldest ended jobs if there
  /// are more than 50, or if all logs together are too large. Throws Error(environment).
  JobRecord make() const;
  /// Returns nothing if `name` is not `local/ID` of an existing record.
  std::optional<JobRecord> find(std::string_view name) const;
  /// Newest first.
  std::vector<JobRecord> all() const;

private:
  void remove_old() const;

  std::filesystem::path directory_;
  std::uint64_t largest_logs_;
};

/// Returns the current time in the API's form.
google::Timestamp now();

}  // namespace autopack::local
