#include "base/new_file.hpp"

#include "base/error.hpp"
#include "base/own_file.hpp"
#include "base/remove_tree.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <string_view>
#include <system_error>

namespace autopack {

namespace {

namespace fs = std::filesystem;

Error cannot_write(const fs::path& path, int code) {
  return Error(ErrorKind::environment, fmt::format("cannot write `{}`", printable(path.string())))
      .cause(std::strerror(code));
}

constexpr std::size_t suffix_length{8};

/// Returns whether `name` is a name that name_underway gives for the file name `target`.
bool is_underway(std::string_view name, std::string_view target) {
  if (!name.starts_with('.') || name.size() != target.size() + suffix_length + 2) {
    return false;
  }
  name.remove_prefix(1);
  const auto suffix = name.substr(target.size() + 1);
  return name.starts_with(target) && name[target.size()] == '.' &&
         suffix.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

fs::path name_underway(const fs::path& path) {
  return path.parent_path() /
         fmt::format(".{}.{:08x}", path.filename().string(), std::random_device{}());
}

bool hold(int file) {
  // On a file system without locks, leftovers are not removed.
  struct stat state {};

  const bool is_taken = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return !is_taken && ::fstat(file, &state) == 0 && state.st_nlink > 0;
}

void sweep_leftovers(const fs::path& path) {
  std::error_code code;
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path{"."};
  const std::string target = path.filename().string();
  for (fs::directory_iterator entry{parent, code}; !code && entry != fs::directory_iterator{};
       entry.increment(code)) {
    if (!is_underway(entry->path().filename().string(), target)) {
      continue;
    }
    const FileDescriptor file{
        ::open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      remove_tree(entry->path());
    }
  }
}

NewFile::NewFile(fs::path path, FileMode mode) : path_{std::move(path)} {
  if (path_.has_parent_path() && mode == FileMode::secret) {
    create_own_directories(path_.parent_path());
  } else if (path_.has_parent_path()) {
    std::error_code ignored;
    fs::create_directories(path_.parent_path(), ignored);
  }
  while (!file_) {
    temporary_ = name_underway(path_).string();
    // Created with its final mode, because reading the umask would change it for other threads.
    file_ = FileDescriptor{::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                  mode == FileMode::secret ? 0600 : 0644)};
    if (!file_ && errno != EEXIST) {
      const int code = errno;
      temporary_.clear();
      throw cannot_write(path_, code);
    }
    if (file_ && !hold(file_.get())) {
      file_ = FileDescriptor{-1};
    }
  }
}

NewFile::~NewFile() {
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

void NewFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      throw cannot_write(path_, errno);
    }
    bytes.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
  }
}

void NewFile::commit_as(const fs::path& path) {
  path_ = path;
  create_own_directories(path_.parent_path());
  commit();
}

void NewFile::commit() {
  // Held until it is renamed: without a holder it would look like a leftover.
  const FileDescriptor held{::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0)};
  if (file_.close() != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw cannot_write(path_, errno);
  }
  temporary_.clear();
}

bool NewFile::commit_if_absent() {
  const FileDescriptor held{::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0)};
  if (file_.close() != 0) {
    throw cannot_write(path_, errno);
  }
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0) {
    temporary_.clear();
    return true;
  }
  if (errno == EEXIST) {
    return false;
  }
  // Some file systems do not support such a rename (EINVAL).
  if (errno != EINVAL || fs::exists(fs::symlink_status(path_)) ||
      ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw cannot_write(path_, errno);
  }
  temporary_.clear();
  return true;
}

}  // namespace autopack
