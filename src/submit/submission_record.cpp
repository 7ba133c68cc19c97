#include "submit/submission_record.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <system_error>
#include <utility>

namespace autopack::submit {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours longest_kept{24};

}  // namespace

bool is_submission_id(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_old_record(const fs::path& file) {
  std::error_code code;
  const auto time = fs::last_write_time(file, code);
  return code || fs::file_time_type::clock::now() - time > longest_kept;
}

std::string new_submission_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

Submission::Submission(const std::optional<fs::path>& directory,
                       const std::string& key,
                       std::string id,
                       const std::string& content)
    : id_{std::move(id)} {
  if (!directory) {
    return;
  }
  std::error_code code;
  for (fs::directory_iterator entry{*directory, code}; !code && entry != fs::directory_iterator{};
       entry.increment(code)) {
    std::error_code ignored;
    if (is_old_record(entry->path())) {
      fs::remove(entry->path(), ignored);  // it is too old to matter
    } else if (entry->path().stem() == key && take_over(entry->path())) {
      return;
    }
  }
  write(*directory, key, content);
}

/// A running process holds the lock of its record.
bool Submission::take_over(const fs::path& file) {
  FileDescriptor lock{::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};

  struct stat state {};

  const bool is_free = lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 &&
                       ::fstat(lock.get(), &state) == 0 && state.st_nlink > 0;
  const std::string id = file.extension().string();
  if (!is_free || id.empty() || !is_submission_id(id.substr(1))) {
    return false;
  }
  id_ = id.substr(1);
  is_left_ = true;
  file_ = file;
  lock_ = std::move(lock);
  return true;
}

void Submission::write(const fs::path& directory,
                       const std::string& key,
                       const std::string& content) {
  std::error_code code;
  fs::create_directories(directory, code);
  // Locked before it gets its name, so that no other run takes it for an abandoned record.
  const fs::path fresh = directory / ("." + id_);
  FileDescriptor lock{::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 ||
      ::write(lock.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    fs::remove(fresh, code);
    return;
  }
  const fs::path file = directory / (key + "." + id_);
  fs::rename(fresh, file, code);
  if (!code) {
    file_ = file;
    lock_ = std::move(lock);
  }
}

void Submission::settle() {
  std::error_code ignored;
  if (file_) {
    fs::remove(*file_, ignored);
  }
}

}  // namespace autopack::submit
