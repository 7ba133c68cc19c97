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

/// What is kept of one job that ran here: its resource as the API would give it, and its log. Only
/// this user can read it.
class JobRecord {
public:
  explicit JobRecord(std::filesystem::path directory) : directory_{std::move(directory)} {}

  /// `local/1795170393174`.
  std::string name() const { return "local/" + directory_.filename().string(); }

  std::string id() const { return directory_.filename().string(); }

  const std::filesystem::path& directory() const { return directory_; }

  /// The job; null when it cannot be read. One whose run was killed has failed.
  nlohmann::json job() const;
  /// Puts it whole. Throws Error(environment).
  void put(const nlohmann::json& job) const;

  /// Entries of the log from byte `offset`, which moves on; whole lines only.
  std::vector<google::LogEntry> entries(std::uint64_t& offset) const;

  /// Asks the process that runs it for the end of the job.
  void ask_for_end() const;
  bool is_asked_for_end() const;
  /// Notes that this process runs it, and forgets that its end was asked for.
  void own() const;

private:
  bool has_lost_its_owner() const;

  std::filesystem::path directory_;
};

/// The log of a job, written by the one process that runs it.
class LogWriter {
public:
  explicit LogWriter(const JobRecord& record);

  /// A line of it. After 256 MiB nothing more is kept. Never throws.
  void write(const google::LogEntry& entry) noexcept;

private:
  FileDescriptor file_;
  std::uint64_t size_{0};
};

/// The jobs that ran on this machine, in a directory of their own.
class JobRecords {
public:
  /// `largest_logs` bounds the logs of all jobs together, in bytes.
  explicit JobRecords(std::filesystem::path directory,
                      std::uint64_t largest_logs = std::uint64_t{1} << 30U)
      : directory_{std::move(directory)}, largest_logs_{largest_logs} {}

  /// A new one, named by the time in milliseconds. Removes the oldest that have ended if there are
  /// more than 50, or if all logs together are too large. Throws Error(environment).
  JobRecord make() const;
  /// None when `name` is not `local/ID` of one that is kept.
  std::optional<JobRecord> find(std::string_view name) const;
  /// The newest first.
  std::vector<JobRecord> all() const;

private:
  void remove_old() const;

  std::filesystem::path directory_;
  std::uint64_t largest_logs_;
};

/// The time now, as the API writes it.
google::Timestamp now();

}  // namespace autopack::local
