#include "base/file.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace autopack {

namespace fs = std::filesystem;

namespace {

Error unreadable(const fs::path& path, const std::string& why) {
  return Error(ErrorKind::environment, fmt::format("cannot read `{}`", printable(path.string())))
      .cause(why);
}

Error unreadable(const fs::path& path, int code) {
  return unreadable(path, std::strerror(code));
}

bool is_null_device(const struct stat& status) {
  constexpr unsigned memory_devices{1};
  constexpr unsigned null_device{3};
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(memory_devices, null_device);
}

/// Opens a file that can be read to its end; returns an empty descriptor if it does not exist.
FileDescriptor open_to_read(const fs::path& path, FileSort sort) {
  // O_NONBLOCK: opening a FIFO without a writer would block forever.
  const int wait = sort == FileSort::regular ? O_NONBLOCK : 0;
  FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | wait)};
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return file;
    }
    throw unreadable(path, errno);
  }

  struct stat status = {};

  if (::fstat(file.get(), &status) != 0) {
    throw unreadable(path, errno);
  }
  if (S_ISDIR(status.st_mode)) {
    throw unreadable(path, EISDIR);
  }
  if (sort == FileSort::regular && !S_ISREG(status.st_mode) && !is_null_device(status)) {
    throw unreadable(path, "it is a FIFO, a socket or a device, not a file");
  }
  return file;
}

void read_open(const FileDescriptor& file,
               const fs::path& path,
               const std::function<void(std::string_view bytes)>& take) {
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      throw unreadable(path, errno);
    }
    if (count == 0) {
      return;
    }
    take({buffer.data(), static_cast<std::size_t>(count)});
  }
}

}  // namespace

std::optional<std::string> read_file_if_exists(const fs::path& path, FileSort sort) {
  const FileDescriptor file = open_to_read(path, sort);
  if (!file) {
    return std::nullopt;
  }
  std::string text;
  read_open(file, path, [&](std::string_view bytes) {
    text += bytes;
    if (text.size() > largest_text) {
      throw unreadable(path, fmt::format("it is larger than {} MiB", largest_text >> 20U));
    }
  });
  return text;
}

void read_in_pieces(const fs::path& path, const std::function<void(std::string_view bytes)>& take) {
  const FileDescriptor file = open_to_read(path, FileSort::regular);
  if (!file) {
    throw unreadable(path, ENOENT);
  }
  read_open(file, path, take);
}

std::string read_file(const fs::path& path, FileSort sort) {
  auto text = read_file_if_exists(path, sort);
  if (!text) {
    throw unreadable(path, ENOENT);
  }
  return std::move(*text);
}

void write_file(const fs::path& path, std::string_view text, FileMode mode) {
  NewFile file{path, mode};
  file.write(text);
  file.commit();
}

}  // namespace autopack
