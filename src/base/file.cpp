#include "base/file.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace autopack {

namespace fs = std::filesystem;

namespace {

Error failure(const char* verb, const fs::path& path, int code) {
  return Error(ErrorKind::environment, fmt::format("cannot {} `{}`", verb, path.string()))
      .cause(std::strerror(code));
}

}  // namespace

std::optional<std::string> read_file_if_exists(const fs::path& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return std::nullopt;
    }
    throw failure("read", path, errno);
  }
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      throw failure("read", path, errno);
    }
    if (count == 0) {
      return text;
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string read_file(const fs::path& path) {
  auto text = read_file_if_exists(path);
  if (!text) {
    throw failure("read", path, ENOENT);
  }
  return std::move(*text);
}

void write_file(const fs::path& path, std::string_view text, FileMode mode) {
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path{"."};
  std::error_code code;
  fs::create_directories(directory, code);
  std::string temporary = (directory / ("." + path.filename().string() + ".XXXXXX")).string();
  Descriptor file{::mkostemp(temporary.data(), O_CLOEXEC)};
  if (file.get() < 0) {
    throw failure("write", path, errno);
  }
  std::string_view rest = text;
  int error = 0;
  while (error == 0 && !rest.empty()) {
    const ssize_t count = ::write(file.get(), rest.data(), rest.size());
    if (count < 0) {
      error = errno == EINTR ? 0 : errno;
    } else {
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  if (error == 0 && mode == FileMode::normal) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    error = ::fchmod(file.get(), 0644 & ~mask) == 0 ? 0 : errno;
  }
  if (error == 0 && (file.close() != 0 || ::rename(temporary.c_str(), path.c_str()) != 0)) {
    error = errno;
  }
  if (error != 0) {
    ::unlink(temporary.c_str());
    throw failure("write", path, error);
  }
}

}  // namespace autopack
