#include "index/partial_file.hpp"

#include "base/new_file.hpp"
#include "base/own_file.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace autopack::index {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds between_looks{50};

[[noreturn]] void throw_unusable(const fs::path& path, int code) {
  throw Error(ErrorKind::environment, fmt::format("cannot write `{}`", printable(path.string())))
      .cause(std::strerror(code));
}

FileDescriptor open_file(const fs::path& path) {
  constexpr int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  FileDescriptor file{::open(path.c_str(), flags, 0600)};
  if (!file && errno == ENOENT) {
    create_own_directories(path.parent_path());
    file = FileDescriptor{::open(path.c_str(), flags, 0600)};
  }
  if (!file) {
    throw_unusable(path, errno);
  }
  return file;
}

/// Returns whether `file` still has this name: its last holder may have moved it away.
bool is_at(const FileDescriptor& file, const fs::path& path) {
  struct stat opened {};

  struct stat named {};

  return ::fstat(file.get(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

std::uint64_t size_of(const FileDescriptor& file) {
  struct stat status {};

  return ::fstat(file.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

PartialFile::PartialFile(fs::path path, FileDescriptor file, bool is_shared)
    : path_{std::move(path)},
      file_{std::move(file)},
      is_shared_{is_shared},
      size_{size_of(file_)} {}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : path_{std::exchange(other.path_, {})},
      file_{std::move(other.file_)},
      is_shared_{other.is_shared_},
      size_{other.size_} {}

PartialFile::~PartialFile() {
  if (!path_.empty() && (!is_shared_ || size_ == 0)) {
    ::unlink(path_.c_str());
  }
}

std::optional<PartialFile> PartialFile::take(const fs::path& path,
                                             const std::function<bool()>& is_done,
                                             const Patience& patience) {
  std::uint64_t seen = 0;
  std::chrono::milliseconds waited{0};
  for (;;) {
    FileDescriptor file = open_file(path);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      std::optional<PartialFile> held;
      if (is_at(file, path)) {
        held.emplace(PartialFile{path, std::move(file), true});
      }
      if (is_done()) {
        return std::nullopt;
      }
      if (held) {
        return held;
      }
      continue;
    }
    const bool is_held = errno == EWOULDBLOCK || errno == EINTR;
    const auto size = size_of(file);
    waited = size == seen ? waited + between_looks : std::chrono::milliseconds{0};
    seen = size;
    if (!is_held || waited > patience.time) {
      const fs::path own = name_underway(path);
      return PartialFile{own, open_file(own), false};
    }
    sleep_unless_cancelled(between_looks, patience.cancellation);
    if (is_done()) {
      return std::nullopt;
    }
  }
}

void PartialFile::read(const std::function<void(std::string_view)>& sink) const {
  std::array<char, 65536> buffer{};
  for (off_t at = 0;;) {
    const ssize_t count = ::pread(file_.get(), buffer.data(), buffer.size(), at);
    if (count < 0 && errno != EINTR) {
      throw_unusable(path_, errno);
    }
    if (count == 0) {
      return;
    }
    if (count > 0) {
      sink({buffer.data(), static_cast<std::size_t>(count)});
      at += count;
    }
  }
}

void PartialFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      throw_unusable(path_, errno);
    }
    const auto written = static_cast<std::size_t>(count < 0 ? 0 : count);
    bytes.remove_prefix(written);
    size_ += written;
  }
}

void PartialFile::clear() {
  if (::ftruncate(file_.get(), 0) != 0) {
    throw_unusable(path_, errno);
  }
  size_ = 0;
}

void PartialFile::commit(const fs::path& path) {
  create_own_directories(path.parent_path());
  if (::rename(path_.c_str(), path.c_str()) != 0) {
    throw_unusable(path, errno);
  }
  path_.clear();
}

}  // namespace autopack::index
