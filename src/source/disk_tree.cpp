#include "base/contains.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "source/tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>
#include <utility>

namespace autopack::source {

namespace {

constexpr std::size_t largest_piece = std::size_t{256} * 1024;

std::string reason(int code) {
  return std::generic_category().message(code);
}

Error unreadable(std::string_view path, int code) {
  Error error(ErrorKind::project, fmt::format("could not read `{}`", printable(path)));
  error.cause(reason(code));
  if (code == EACCES && !path.empty() && !path.starts_with('/') && path != ".") {
    error.hint(fmt::format("`--exclude={}` leaves it out", shell_quote(std::string{path})));
  }
  return error;
}

Error too_large(std::string_view path) {
  return Error(ErrorKind::project, fmt::format("`{}` is larger than {} MiB, which no text is",
                                               printable(path), largest_text >> 20U));
}

/// Returns true if openat or fstatat found nothing in this tree: O_NOFOLLOW fails with ELOOP or
/// ENOTDIR for a symbolic link in the middle.
bool is_absence(int code) {
  return code == ENOENT || code == ENOTDIR || code == ELOOP || code == ENAMETOOLONG;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('\0') == std::string_view::npos;
}

bool has_plain_names(std::string_view path) {
  for (;;) {
    const auto end = path.find('/');
    if (!is_plain_name(path.substr(0, end))) {
      return false;
    }
    if (end == std::string_view::npos) {
      return true;
    }
    path.remove_prefix(end + 1);
  }
}

std::string read_link(int directory, const char* name) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlinkat(directory, name, target.data(), target.size());
  return size < 0 ? std::string{} : std::string(target.data(), static_cast<std::size_t>(size));
}

constexpr Obstacle fifo{"fifo"};
constexpr Obstacle socket{"socket"};
constexpr Obstacle device{"device"};

const Obstacle& obstacle_of(mode_t mode) {
  if (S_ISFIFO(mode)) {
    return fifo;
  }
  return S_ISSOCK(mode) ? socket : device;
}

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

Entry make_entry(std::string path, const struct stat& status) {
  Entry entry{.path = std::move(path),
              .inode = status.st_ino,
              .ctime_ns = nanoseconds(status.st_ctim),
              .mtime_ns = nanoseconds(status.st_mtim)};
  if (S_ISREG(status.st_mode)) {
    entry.size = static_cast<std::uint64_t>(status.st_size);
    entry.executable = (status.st_mode & S_IXUSR) != 0;
  } else if (S_ISDIR(status.st_mode)) {
    entry.type = EntryType::directory;
  } else if (S_ISLNK(status.st_mode)) {
    entry.type = EntryType::symlink;
  } else {
    entry.type = EntryType::other;
    entry.obstacle = &obstacle_of(status.st_mode);
  }
  return entry;
}

using FileId = std::pair<dev_t, ino_t>;

/// Returns the output files of this process. They change while they are read, and are not part of
/// the project.
std::vector<FileId> own_outputs() {
  std::vector<FileId> files;
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status = {};

    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
      files.emplace_back(status.st_dev, status.st_ino);
    }
  }
  return files;
}

/// Returns the entry `name` of an open directory; nothing if it does not exist (any more), or is
/// one of `outputs`.
std::optional<Entry> entry_at(int directory,
                              const char* name,
                              std::string path,
                              const std::vector<FileId>& outputs) {
  struct stat status = {};

  if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (is_absence(errno)) {
      return std::nullopt;
    }
    throw unreadable(path, errno);
  }
  const bool is_output = contains(outputs, FileId{status.st_dev, status.st_ino});
  if (is_output) {
    return std::nullopt;
  }
  Entry entry = make_entry(std::move(path), status);
  if (entry.type == EntryType::symlink) {
    entry.link_target = read_link(directory, name);
  }
  return entry;
}

class DiskTree final : public Tree {
public:
  DiskTree(std::filesystem::path root, FileDescriptor directory)
      : root_{std::move(root)}, directory_{std::move(directory)} {}

  std::optional<Entry> find(std::string_view path) const override {
    if (path.empty()) {
      struct stat status = {};

      if (::fstat(directory_.get(), &status) != 0) {
        throw unreadable(describe(), errno);
      }
      return make_entry("", status);
    }
    const auto [parent, name] = open_parent(path);
    return parent ? entry_at(parent.get(), name.c_str(), std::string{path}, outputs_)
                  : std::nullopt;
  }

  std::vector<Entry> list(std::string_view path) const override {
    FileDescriptor directory = open(path, O_RDONLY | O_DIRECTORY);
    if (!directory) {
      const int code = errno;
      // The path of an existing entry may still be too long for the system.
      if (is_absence(code) && (code != ENAMETOOLONG || !find(path))) {
        return {};
      }
      throw unreadable(name_of(path), code);
    }
    const std::unique_ptr<DIR, int (*)(DIR*)> stream{::fdopendir(directory.get()), &::closedir};
    if (!stream) {
      throw unreadable(name_of(path), errno);
    }
    const int handle = directory.release();
    std::string names;
    std::vector<std::size_t> places;  // in `names`, each of which ends with a zero
    errno = 0;
    while (const dirent* found = ::readdir(stream.get())) {
      const std::string_view name{found->d_name};
      if (name != "." && name != "..") {
        places.push_back(names.size());
        names.append(name).push_back('\0');
      }
      errno = 0;
    }
    if (errno != 0) {
      throw unreadable(name_of(path), errno);
    }
    const auto name_at = [&](std::size_t place) { return names.c_str() + place; };
    std::ranges::sort(places, [&](std::size_t a, std::size_t b) {
      return std::strcmp(name_at(a), name_at(b)) < 0;
    });
    const std::string prefix = path.empty() ? std::string{} : std::string{path} + "/";
    std::vector<Entry> entries;
    entries.reserve(places.size());
    for (const std::size_t place : places) {
      if (auto entry = entry_at(handle, name_at(place), prefix + name_at(place), outputs_)) {
        entries.push_back(std::move(*entry));
      }
    }
    return entries;
  }

  std::string read(std::string_view path) const override {
    std::string text;
    stream(path, [&](std::string_view bytes) {
      if (text.size() + bytes.size() > largest_text) {
        throw too_large(path);
      }
      text += bytes;
    });
    return text;
  }

  void stream(std::string_view path,
              const std::function<void(std::string_view bytes)>& take) const override {
    const auto [file, size] = open_file(path);
    std::vector<char> buffer(std::min(size + 1, largest_piece));
    for (;;) {
      const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
      if (count < 0 && errno != EINTR) {
        throw unreadable(path, errno);
      }
      if (count == 0) {
        return;
      }
      if (count > 0) {
        take({buffer.data(), static_cast<std::size_t>(count)});
      }
    }
  }

  std::string describe() const override { return root_.string(); }

  bool lists_in_threads() const override { return true; }

private:
  /// The name in messages.
  std::string name_of(std::string_view path) const {
    return path.empty() ? describe() : std::string{path};
  }

  /// Opens the directory of the last name of `path`; returns it and that name. If there is no such
  /// directory, returns no descriptor and sets errno. Opens one name at a time, because openat with
  /// a longer path would follow symbolic links on the way.
  std::pair<FileDescriptor, std::string> open_parent(std::string_view path) const {
    FileDescriptor directory{::fcntl(directory_.get(), F_DUPFD_CLOEXEC, 0)};
    for (;;) {
      const auto end = path.find('/');
      std::string name{path.substr(0, end)};
      if (!is_plain_name(name)) {
        errno = ENOENT;
        return {FileDescriptor{-1}, std::string{}};
      }
      if (end == std::string_view::npos || !directory) {
        return {std::move(directory), std::move(name)};
      }
      directory = FileDescriptor{
          ::openat(directory.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
      path.remove_prefix(end + 1);
    }
  }

  FileDescriptor open(std::string_view path, int flags) const {
    flags |= O_NOFOLLOW | O_CLOEXEC;
    if (path.empty()) {
      return FileDescriptor{::openat(directory_.get(), ".", flags)};
    }
    if (auto opened = open_below(path, flags)) {
      return std::move(*opened);
    }
    const auto [parent, name] = open_parent(path);
    return FileDescriptor{parent ? ::openat(parent.get(), name.c_str(), flags) : -1};
  }

  /// Opens the path with one call that follows no symbolic link; returns nothing if the kernel
  /// (before 5.6, or a container's filter) does not support it.
  std::optional<FileDescriptor> open_below(std::string_view path, int flags) const {
    if (!has_plain_names(path)) {
      errno = ENOENT;
      return FileDescriptor{-1};
    }

    open_how how = {};

    how.flags = static_cast<decltype(how.flags)>(flags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const auto file =
        ::syscall(SYS_openat2, directory_.get(), std::string{path}.c_str(), &how, sizeof how);
    if (file < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN)) {
      return std::nullopt;
    }
    return FileDescriptor{static_cast<int>(file)};
  }

  /// Opens the regular file `path`; returns it and its current size.
  std::pair<FileDescriptor, std::size_t> open_file(std::string_view path) const {
    // O_NONBLOCK: opening a FIFO without a writer would wait forever.
    FileDescriptor file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);

    struct stat status = {};

    if (!file && errno == ELOOP) {
      throw Error(ErrorKind::project,
                  fmt::format("`{}` is a symbolic link, not a file", printable(path)));
    }
    if (!file || ::fstat(file.get(), &status) != 0) {
      throw unreadable(path, errno);
    }
    if (!S_ISREG(status.st_mode)) {
      const bool directory = S_ISDIR(status.st_mode);
      throw Error(ErrorKind::project,
                  fmt::format("`{}` is a {}, not a file", printable(path),
                              directory ? "directory" : obstacle_of(status.st_mode).what));
    }
    return {std::move(file), static_cast<std::size_t>(status.st_size)};
  }

  std::filesystem::path root_;
  FileDescriptor directory_;
  std::vector<FileId> outputs_{own_outputs()};
};

}  // namespace

std::unique_ptr<Tree> make_disk_tree(const std::filesystem::path& root) {
  FileDescriptor directory{::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!directory) {
    const int code = errno;
    const std::string name = printable(root.string());
    if (code == ENOENT) {
      throw Error(ErrorKind::usage, fmt::format("the directory `{}` does not exist", name));
    }
    if (code == ENOTDIR) {
      throw Error(ErrorKind::usage, fmt::format("`{}` is not a directory", name));
    }
    throw Error(ErrorKind::usage, fmt::format("could not open the directory `{}`", name))
        .cause(reason(code));
  }
  return std::make_unique<DiskTree>(root, std::move(directory));
}

}  // namespace autopack::source
