#include "base/new_file.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

namespace autopack {

namespace {

namespace fs = std::filesystem;

Error cannot_write(const fs::path& path, int code) {
  return Error(ErrorKind::environment, fmt::format("cannot write `{}`", printable(path.string())))
      .cause(std::strerror(code));
}

}  // namespace

NewFile::NewFile(fs::path path, FileMode mode) : path_{std::move(path)} {
  if (path_.has_parent_path()) {
    std::error_code ignored;
    fs::create_directories(path_.parent_path(), ignored);
  }
  std::random_device random;
  while (!file_) {
    temporary_ =
        path_.parent_path() / fmt::format(".{}.{:08x}", path_.filename().string(), random());
    // Made with its last mode, because asking for the umask would change it for other threads.
    file_ = Descriptor{::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                              mode == FileMode::secret ? 0600 : 0644)};
    if (!file_ && errno != EEXIST) {
      const int code = errno;
      temporary_.clear();
      throw cannot_write(path_, code);
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

void NewFile::commit() {
  if (file_.close() != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw cannot_write(path_, errno);
  }
  temporary_.clear();
}

}  // namespace autopack
