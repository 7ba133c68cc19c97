#include "base/own_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace autopack {

namespace {

constexpr mode_t others_may_write{022};
constexpr mode_t others{077};

}  // namespace

FileDescriptor open_own_file(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a FIFO without a writer would block forever.
  FileDescriptor file{
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)};

  struct stat facts = {};

  const bool is_own = file && ::fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
                      facts.st_uid == ::geteuid() && (facts.st_mode & others_may_write) == 0;
  return is_own ? std::move(file) : FileDescriptor{-1};
}

void create_own_directories(const std::filesystem::path& path) {
  if (path.empty() || ::mkdir(path.c_str(), 0700) == 0 || errno != ENOENT) {
    return;
  }
  const auto parent = path.parent_path();
  if (parent != path) {
    create_own_directories(parent);
    ::mkdir(path.c_str(), 0700);
  }
}

void close_to_others(const std::filesystem::path& path) {
  struct stat facts = {};

  if (::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == ::geteuid() &&
      (facts.st_mode & others) != 0) {
    ::chmod(path.c_str(), facts.st_mode & 0777U & ~others);
  }
}

}  // namespace autopack
