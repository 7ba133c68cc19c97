#include "base/file.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

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
  NewFile file{path, mode};
  file.write(text);
  file.commit();
}

}  // namespace autopack
