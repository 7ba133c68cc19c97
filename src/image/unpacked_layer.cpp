#include "image/unpacked_layer.hpp"

#include "base/contains.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/remove_tree.hpp"
#include "base/text.hpp"
#include "image/archive_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace autopack::image {

namespace {

/// OCI image specification, layer.md: names of whiteouts. Names with two prefixes are of AUFS
/// alone.
constexpr std::string_view hidden_prefix{".wh."};
constexpr std::string_view hidden_twice{".wh..wh."};
constexpr std::string_view all_hidden{".wh..wh..opq"};

constexpr std::size_t read_size{std::size_t{1} << 18U};
/// How many bytes are written between two looks at the free space.
constexpr std::uint64_t bytes_to_a_look{std::uint64_t{64} << 20U};

/// A directory of the layer, and a name in it.
struct Location {
  int directory{-1};  ///< owned by Unpacker
  std::string name{};
};

class Unpacker {
public:
  Unpacker(const std::filesystem::path& directory, std::string what, const UnpackLimits& limits)
      : what_{std::move(what)},
        limits_{limits},
        root_{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)} {
    if (!root_) {
      throw failure("open its directory", errno);
    }
    check_free_space();
  }

  void take(const ArchiveEntry& entry, const Reader& content) {
    if (++entries_ > limits_.entries) {
      throw refusal(fmt::format("it has more than {} entries", limits_.entries));
    }
    const std::string path = normal_path(entry.path);
    if (path.empty()) {
      return;
    }
    const auto at = find(path);
    if (at.name == all_hidden) {
      hide_lower(at.directory);
    } else if (at.name.starts_with(hidden_twice)) {
      return;
    } else if (at.name.starts_with(hidden_prefix)) {
      add_whiteout({at.directory, at.name.substr(hidden_prefix.size())});
    } else {
      add(entry, at, content);
    }
  }

private:
  void add(const ArchiveEntry& entry, const Location& at, const Reader& content) {
    switch (entry.type) {
      case ArchiveEntry::Type::directory: add_directory(entry, at); return;
      case ArchiveEntry::Type::file: add_file(entry, at, content); return;
      case ArchiveEntry::Type::symlink: add_symlink(entry, at); return;
      case ArchiveEntry::Type::hard_link: add_hard_link(entry, at); return;
      case ArchiveEntry::Type::other: return;
    }
  }

  /// Returns the place of `path`, with all directories above it.
  Location find(const std::string& path) {
    if (contains(split(path, '/'), "..")) {
      throw refusal(fmt::format("the path `{}` leads out of it", printable(path)));
    }
    const auto slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "" : path.substr(0, slash);
    if (parent != parent_path_) {
      parent_ = make_directories(parent);
      parent_path_ = parent;
    }
    return {parent_.get(), slash == std::string::npos ? path : path.substr(slash + 1)};
  }

  /// Opens a directory of the layer; its links lead to places in the layer, as in a changed root.
  FileDescriptor open_directory(const std::string& path) const {
    open_how how{};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    const std::string place = path.empty() ? "." : path;
    long result = -1;
    do {
      result = ::syscall(SYS_openat2, root_.get(), place.c_str(), &how, sizeof how);
    } while (result < 0 && (errno == EAGAIN || errno == EINTR));
    return FileDescriptor{static_cast<int>(result)};
  }

  FileDescriptor make_directories(const std::string& path) {
    auto found = open_directory(path);
    if (found) {
      return found;
    }
    if (errno != ENOENT || path.empty()) {
      throw failure(fmt::format("open the directory `{}`", printable(path)), errno);
    }
    const auto slash = path.rfind('/');
    const auto parent = make_directories(slash == std::string::npos ? "" : path.substr(0, slash));
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (::mkdirat(parent.get(), name.c_str(), 0755) != 0) {
      throw failure(fmt::format("make the directory `{}`", printable(path)), errno);
    }
    found = open_directory(path);
    if (!found) {
      throw failure(fmt::format("open the directory `{}`", printable(path)), errno);
    }
    return found;
  }

  /// Removes what an earlier entry put there. Returns true if it was a whiteout.
  bool clear(const Location& at) {
    struct stat there {};

    if (::fstatat(at.directory, at.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) {
      return false;
    }
    if (S_ISDIR(there.st_mode)) {
      remove_tree(fmt::format("/proc/self/fd/{}/{}", at.directory, at.name));
      parent_path_.reset();  // it may have been below it
      return false;
    }
    ::unlinkat(at.directory, at.name.c_str(), 0);
    return S_ISCHR(there.st_mode);
  }

  void add_directory(const ArchiveEntry& entry, const Location& at) {
    bool replaces_whiteout = false;
    if (::mkdirat(at.directory, at.name.c_str(), 0755) != 0) {
      struct stat there {};

      const bool is_directory =
          errno == EEXIST &&
          ::fstatat(at.directory, at.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISDIR(there.st_mode);
      if (!is_directory) {
        replaces_whiteout = clear(at);
        check(::mkdirat(at.directory, at.name.c_str(), 0755), "make a directory");
      }
    }
    const auto made = open_made(at, O_RDONLY | O_DIRECTORY);
    check(::fchmod(made.get(), (entry.mode & 01777U) | S_IRWXU), "set the mode of a directory");
    if (replaces_whiteout) {
      hide_lower(made.get());
    }
  }

  void add_file(const ArchiveEntry& entry, const Location& at, const Reader& content) {
    auto file = create(at);
    if (!file && errno == EEXIST) {
      clear(at);
      file = create(at);
    }
    if (!file) {
      throw failure("make a file", errno);
    }
    std::uint64_t written = 0;
    while (const std::size_t count = content(buffer_.data(), buffer_.size())) {
      written += count;
      write(file.get(), {buffer_.data(), count});
    }
    if (written != entry.size) {
      throw refusal(fmt::format("`{}` ends early", printable(entry.path)));
    }
    check(::fchmod(file.get(), (entry.mode & 0777U) | S_IRUSR), "set the mode of a file");
    const timespec time{.tv_sec = entry.time, .tv_nsec = 0};
    const std::array times{time, time};
    ::futimens(file.get(), times.data());
  }

  static FileDescriptor create(const Location& at) {
    return FileDescriptor{::openat(at.directory, at.name.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  }

  void add_symlink(const ArchiveEntry& entry, const Location& at) {
    clear(at);
    check(::symlinkat(entry.link.c_str(), at.directory, at.name.c_str()), "make a link");
  }

  /// The target is an earlier file of this layer, and may itself be a symbolic link.
  void add_hard_link(const ArchiveEntry& entry, const Location& at) {
    const std::string target = normal_path(entry.link);
    if (target.empty() || normal_path(entry.path) == target) {
      return;
    }
    const FileDescriptor directory{::fcntl(at.directory, F_DUPFD_CLOEXEC, 0)};
    const auto from = find(target);
    clear({directory.get(), at.name});
    check(::linkat(from.directory, from.name.c_str(), directory.get(), at.name.c_str(), 0),
          "make a hard link");
  }

  /// Hides a file of lower layers; a directory of this layer by that name hides only its contents.
  void add_whiteout(const Location& at) {
    if (at.name.empty() || at.name == "." || at.name == "..") {
      throw refusal("it removes a file without a name");
    }
    if (::mknodat(at.directory, at.name.c_str(), S_IFCHR, ::makedev(0, 0)) == 0) {
      return;
    }
    if (errno != EEXIST) {
      throw failure("hide a file of a lower layer", errno);
    }
    const auto there = open_made(at, O_PATH);

    struct stat state {};

    if (::fstat(there.get(), &state) == 0 && S_ISDIR(state.st_mode)) {
      hide_lower(there.get());
    }
  }

  /// Hides all files of lower layers in a directory.
  void hide_lower(int directory) {
    // The descriptor may be one of O_PATH, which fsetxattr does not accept.
    const std::string path = fmt::format("/proc/self/fd/{}", directory);
    check(::setxattr(path.c_str(), "user.overlay.opaque", "y", 1, 0),
          "hide the files of lower layers");
  }

  FileDescriptor open_made(const Location& at, int flags) const {
    FileDescriptor made{::openat(at.directory, at.name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC)};
    if (!made) {
      throw failure("open what it made", errno);
    }
    return made;
  }

  void write(int file, std::string_view bytes) {
    written_ += bytes.size();
    if (written_ > limits_.bytes) {
      throw refusal(fmt::format("its files have more than {}", human_size(limits_.bytes)));
    }
    if (written_ >= next_look_) {
      check_free_space();
    }
    while (!bytes.empty()) {
      const ssize_t count = ::write(file, bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) {
        throw failure("write a file", errno);
      }
      bytes.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
    }
  }

  void check_free_space() {
    struct statvfs state {};

    next_look_ = written_ + bytes_to_a_look;
    if (::fstatvfs(root_.get(), &state) == 0 &&
        state.f_bavail * state.f_frsize < limits_.free_bytes) {
      throw Error(ErrorKind::environment, fmt::format("{} cannot be unpacked", what_))
          .cause(
              fmt::format("less than {} would be left on the disk", human_size(limits_.free_bytes)))
          .hint("XDG_CACHE_HOME=DIRECTORY puts the cache on another disk");
    }
  }

  void check(int result, const char* step) const {
    if (result != 0) {
      throw failure(step, errno);
    }
  }

  Error failure(const std::string& step, int code) const {
    return refusal(fmt::format("cannot {}: {}", step, std::strerror(code)));
  }

  Error refusal(const std::string& why) const {
    return std::move(
        Error(ErrorKind::environment, fmt::format("{} cannot be unpacked", what_)).cause(why));
  }

  std::string what_;
  const UnpackLimits& limits_;
  FileDescriptor root_;
  FileDescriptor parent_{-1};
  std::optional<std::string> parent_path_{};  ///< absent: not opened
  std::string buffer_ = std::string(read_size, '\0');
  std::uint64_t entries_{0};
  std::uint64_t written_{0};
  std::uint64_t next_look_{0};
};

}  // namespace

Digest unpack_layer(const Reader& layer,
                    const std::filesystem::path& directory,
                    const std::string& what,
                    const UnpackLimits& limits) {
  Unpacker unpacker{directory, what, limits};
  return read_contents(layer, what, [&](const ArchiveEntry& entry, const Reader& content) {
    unpacker.take(entry, content);
  });
}

}  // namespace autopack::image
