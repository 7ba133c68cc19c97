#include "image/new_directory.hpp"

#include "base/new_file.hpp"
#include "base/remove_tree.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace autopack::image {

namespace fs = std::filesystem;

NewDirectory::NewDirectory(const fs::path& path) : path_{path} {
  std::error_code ignored;
  fs::create_directories(path_.parent_path(), ignored);
  while (!file_) {
    temporary_ = name_underway(path_);
    if (::mkdir(temporary_.c_str(), 0755) != 0) {
      throw cannot_make(std::strerror(errno));
    }
    file_ = FileDescriptor{::open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!file_ && errno != ENOENT) {
      throw cannot_make(std::strerror(errno));
    }
    if (file_ && !hold(file_.get())) {
      file_ = FileDescriptor{-1};
    }
  }
}

NewDirectory::~NewDirectory() {
  remove_tree(temporary_);
}

bool NewDirectory::commit() {
  std::error_code failure;
  fs::rename(temporary_, path_, failure);
  const bool is_there = failure == std::errc::file_exists ||
                        failure == std::errc::directory_not_empty ||
                        failure == std::errc::not_a_directory;
  if (failure && !is_there) {
    throw cannot_make(failure.message());
  }
  return !failure;
}

Error NewDirectory::cannot_make(const std::string& why) const {
  return Error(ErrorKind::environment, fmt::format("cannot make `{}`", printable(path_.string())))
      .cause(why);
}

}  // namespace autopack::image
