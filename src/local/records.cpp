#include "local/records.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "engine/container_owner.hpp"
#include "submit/job_state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

namespace autopack::local {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::uint64_t largest_log{std::uint64_t{256} << 20U};
constexpr std::size_t largest_piece{std::size_t{1} << 20U};
constexpr std::size_t most_records = 50;
constexpr std::size_t longest_id = 20;
constexpr std::int64_t nanoseconds = 1'000'000'000;

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= longest_id &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

google::LogEntry entry_of(const json& line) {
  return {.time = google::Timestamp::parse(text_at(line, "time")),
          .insert_id = {},
          .severity = text_at(line, "severity"),
          .task = text_at(line, "task"),
          .message = text_at(line, "message")};
}

std::uint64_t size_of_log(const JobRecord& record) {
  std::error_code failure;
  const auto size = fs::file_size(record.directory() / "log", failure);
  return failure ? 0 : size;
}

}  // namespace

google::Timestamp now() {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  return {.seconds = since / nanoseconds,
          .nanoseconds = static_cast<std::int32_t>(since % nanoseconds)};
}

json JobRecord::job() const {
  const auto text = read_file_if_exists(directory_ / "job.json");
  auto job = parse_json(text.value_or(""));
  if (!job.is_object()) {
    return nullptr;
  }
  if (!submit::state_of(job).ended && has_lost_its_owner()) {
    job["state"] = "JOB_STATE_FAILED";
    job["error"] = {
        {"code", 14},
        {"message",
         "The process that ran the job here was killed, or the machine was started again."}};
  }
  return job;
}

void JobRecord::put(const json& job) const {
  write_file(directory_ / "job.json", print_json(job, 2) + "\n", FileMode::secret);
}

std::vector<google::LogEntry> JobRecord::entries(std::uint64_t& offset) const {
  std::ifstream file{directory_ / "log", std::ios::binary};
  std::vector<google::LogEntry> found;
  if (!file.seekg(static_cast<std::streamoff>(offset))) {
    return found;
  }
  std::string text(largest_piece, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  std::size_t begin = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    const auto line = parse_json(std::string_view{text}.substr(begin, end - begin));
    if (line.is_object()) {
      found.push_back(entry_of(line));
    }
    begin = end + 1;
  }
  // We never write a line longer than a piece.
  offset += begin == 0 && text.size() == largest_piece ? text.size() : begin;
  return found;
}

void JobRecord::ask_for_end() const {
  write_file(directory_ / "end", "", FileMode::secret);
}

bool JobRecord::is_asked_for_end() const {
  std::error_code ignored;
  return fs::exists(directory_ / "end", ignored);
}

void JobRecord::own() const {
  std::error_code ignored;
  fs::remove(directory_ / "end", ignored);
  write_file(directory_ / "owner", engine::this_owner(), FileMode::secret);
}

bool JobRecord::has_lost_its_owner() const {
  const auto owner = read_file_if_exists(directory_ / "owner");
  return owner && engine::has_ended_here(*owner);
}

LogWriter::LogWriter(const JobRecord& record)
    : file_{::open((record.directory() / "log").c_str(),
                   O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
                   S_IRUSR | S_IWUSR)} {}

void LogWriter::write(const google::LogEntry& entry) noexcept {
  try {
    const json line{{"time", entry.time ? entry.time->text() : ""},
                    {"severity", entry.severity},
                    {"task", entry.task},
                    {"message", entry.message}};
    const auto text = print_json(line) + "\n";
    if (size_ + text.size() > largest_log) {
      return;
    }
    size_ += text.size();
    // A full disk must not end the job.
    static_cast<void>(::write(file_.get(), text.data(), text.size()) < 0);
  } catch (const std::exception&) {
    size_ = largest_log;
  }
}

JobRecord JobRecords::make() const {
  remove_old();
  std::error_code failure;
  fs::create_directories(directory_, failure);
  auto id = std::chrono::duration_cast<std::chrono::milliseconds>(
                std::chrono::system_clock::now().time_since_epoch())
                .count();
  while (!failure && !fs::create_directory(directory_ / std::to_string(id), failure)) {
    ++id;
  }
  if (failure) {
    throw Error(ErrorKind::environment,
                fmt::format("cannot keep the job in `{}`", directory_.string()))
        .cause(failure.message());
  }
  const auto directory = directory_ / std::to_string(id);
  fs::permissions(directory, fs::perms::owner_all, failure);
  return JobRecord{directory};
}

std::optional<JobRecord> JobRecords::find(std::string_view name) const {
  constexpr std::string_view prefix{"local/"};
  if (!name.starts_with(prefix) || !is_id(name.substr(prefix.size()))) {
    return std::nullopt;
  }
  JobRecord record{directory_ / name.substr(prefix.size())};
  std::error_code ignored;
  return fs::exists(record.directory() / "job.json", ignored) ? std::optional{std::move(record)}
                                                              : std::nullopt;
}

std::vector<JobRecord> JobRecords::all() const {
  std::vector<JobRecord> found;
  std::error_code failure;
  for (fs::directory_iterator at{directory_, failure}; !failure && at != fs::directory_iterator{};
       at.increment(failure)) {
    if (auto record = find("local/" + at->path().filename().string())) {
      found.push_back(std::move(*record));
    }
  }
  std::ranges::sort(found, [](const JobRecord& a, const JobRecord& b) { return b.id() < a.id(); });
  return found;
}

void JobRecords::remove_old() const {
  const auto records = all();
  std::uint64_t logs = 0;
  for (const auto& record : records) {
    logs += size_of_log(record);
  }
  for (std::size_t i = records.size(); i-- > 0;) {
    const bool frees_logs = logs > largest_logs_ && size_of_log(records[i]) > 0;
    if (i < most_records && !frees_logs) {
      continue;
    }
    const auto job = records[i].job();
    if (job.is_object() && !submit::state_of(job).ended) {
      continue;
    }
    logs -= size_of_log(records[i]);
    std::error_code ignored;
    // The contents of a job's output directory belong to the user.
    if (!fs::is_empty(records[i].directory() / "output", ignored) && !ignored) {
      if (frees_logs) {
        fs::remove(records[i].directory() / "log", ignored);
      }
    } else {
      fs::remove_all(records[i].directory(), ignored);
    }
  }
}

}  // namespace autopack::local
