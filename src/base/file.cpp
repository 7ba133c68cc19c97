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
#include <random>
#include <utility>

namespace autopack {

namespace fs = std::filesystem;

namespace {

Error failure(const char* verb, const fs::path& path, int code) {
  return Error(ErrorKind::environment, fmt::format("cannot {} `{}`", verb, path.string()))
      .cause(std::strerror(code));
}

/// A new file in the directory of `path`, and its name; no descriptor and errno set on failure. It
/// is made with its last mode, because asking for the umask would change it for other threads.
std::pair<Descriptor, std::string> open_beside(const fs::path& path, mode_t mode) {
  std::random_device random;
  for (;;) {
    std::string name =
        path.parent_path() / fmt::format(".{}.{:08x}", path.filename().string(), random());
    Descriptor file{::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)};
    if (file || errno != EEXIST) {
      return {std::move(file), std::move(name)};
    }
  }
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
  if (path.has_parent_path()) {
    std::error_code ignored;
    fs::create_directories(path.parent_path(), ignored);
  }
  auto [file, temporary] = open_beside(path, mode == FileMode::secret ? 0600 : 0644);
  if (!file) {
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
  if (error == 0 && (file.close() != 0 || ::rename(temporary.c_str(), path.c_str()) != 0)) {
    error = errno;
  }
  if (error != 0) {
    ::unlink(temporary.c_str());
    throw failure("write", path, error);
  }
}

}  // namespace autopack
