#include "bundle/root_directory.hpp"

#include "base/error.hpp"
#include "base/remove_tree.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace autopack::bundle {

namespace {

using image::RootFile;

constexpr auto* contents_name = "contents";
constexpr auto* root_name = "rootfs";
constexpr std::size_t piece_size{std::size_t{1} << 18U};
/// A hole has at least this size.
constexpr std::size_t block_size{4096};
constexpr unsigned permissions{07777};
constexpr unsigned without_set_id{01777};

Error failure(const std::string& step, const std::string& path, int code) {
  return std::move(
      Error(ErrorKind::environment, fmt::format("cannot {} `{}`", step, printable(path)))
          .cause(std::strerror(code)));
}

void check(int result, const char* step, const std::string& path) {
  if (result != 0) {
    throw failure(step, path, errno);
  }
}

std::string content_name(const RootFile& file) {
  return std::to_string(file.number);
}

std::array<timespec, 2> times_of(const RootFile& file) {
  const timespec time{.tv_sec = file.time, .tv_nsec = 0};
  return {time, time};
}

void write_at(int file, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno != EINTR) {
      throw failure("write", "a file of the image", errno);
    }
    const auto written = count < 0 ? 0 : static_cast<std::size_t>(count);
    bytes.remove_prefix(written);
    offset += written;
  }
}

bool is_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

/// Writes `content`, with holes where it is zero.
void write_content(int file, const image::Reader& content) {
  std::string buffer(piece_size, '\0');
  std::uint64_t size = 0;
  while (const std::size_t count = content(buffer.data(), buffer.size())) {
    const std::string_view bytes{buffer.data(), count};
    for (std::size_t at = 0; at < count;) {
      // Aligned to blocks of the file, not to the pieces of the reader.
      const std::size_t end = std::min(count, at + block_size - (size + at) % block_size);
      std::size_t last = end;
      const bool hole = is_zero(bytes.substr(at, end - at));
      while (!hole && last < count &&
             !is_zero(bytes.substr(last, std::min(block_size, count - last)))) {
        last = std::min(count, last + block_size);
      }
      if (!hole) {
        write_at(file, bytes.substr(at, last - at), size + at);
      }
      at = last;
    }
    size += count;
  }
  check(::ftruncate(file, static_cast<off_t>(size)), "write", "a file of the image");
}

}  // namespace

RootDirectory::RootDirectory(const std::filesystem::path& directory, const Starter& starter)
    : starter_{starter},
      changes_owners_{::geteuid() == 0 && (starter.is_root || starter.user != 0)},
      directory_path_{directory},
      directory_{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)},
      contents_{-1} {
  if (!directory_) {
    throw failure("open", directory.string(), errno);
  }
  contents_ = make_directory(directory_.get(), contents_name, contents_name);
}

void RootDirectory::set_attributes(int file, const RootFile& facts, const std::string& path) const {
  const auto user = starter_.is_root ? facts.user : starter_.user;
  const auto group = starter_.is_root ? facts.group : starter_.group;
  if (changes_owners_) {
    check(::fchown(file, user, group), "set the owner of", path);
  }
  for (const auto& [name, value] : facts.attributes) {
    if (!starter_.is_root && !name.starts_with("user.")) {
      continue;
    }
    // Not every file system has them.
    if (::fsetxattr(file, name.c_str(), value.data(), value.size(), 0) != 0 && errno != ENOTSUP &&
        errno != EPERM) {
      throw failure("set an attribute of", path, errno);
    }
  }
}

void RootDirectory::take(const RootFile& file, const image::Reader& content) {
  const auto name = content_name(file);
  const FileDescriptor made{::openat(contents_.get(), name.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!made) {
    throw failure("make", "a file of the image", errno);
  }
  write_content(made.get(), content);
  set_attributes(made.get(), file, "a file of the image");
  const unsigned mode = starter_.is_root ? file.mode & permissions : (file.mode & 0777U) | S_IRUSR;
  check(::fchmod(made.get(), mode), "set the mode of", "a file of the image");
  const auto times = times_of(file);
  check(::futimens(made.get(), times.data()), "set the time of", "a file of the image");
}

std::string RootDirectory::read(const RootFile& file) const {
  const auto name = content_name(file);
  const FileDescriptor from{
      ::openat(contents_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  std::string text(file.size, '\0');
  const ssize_t count = from ? ::pread(from.get(), text.data(), text.size(), 0) : 0;
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

void RootDirectory::add(int directory,
                        const std::string& name,
                        const RootFile& file,
                        const std::string& path) {
  if (file.is_regular()) {
    const auto content = content_name(file);
    const int result = file.links > 1
                           ? ::linkat(contents_.get(), content.c_str(), directory, name.c_str(), 0)
                           : ::renameat(contents_.get(), content.c_str(), directory, name.c_str());
    check(result, "make", path);
    return;
  }
  const bool is_link = S_ISLNK(file.mode);
  if (is_link) {
    check(::symlinkat(file.target.c_str(), directory, name.c_str()), "make", path);
  } else {
    const auto device = S_ISFIFO(file.mode) ? 0 : ::makedev(file.device_major, file.device_minor);
    if (device != 0 && !starter_.is_root) {
      return;
    }
    if (::mknodat(directory, name.c_str(), (file.mode & S_IFMT) | 0600U, device) != 0) {
      if (errno == EPERM) {
        return;  // root of a container may make none
      }
      throw failure("make", path, errno);
    }
  }
  if (changes_owners_) {
    const auto user = starter_.is_root ? file.user : starter_.user;
    const auto group = starter_.is_root ? file.group : starter_.group;
    check(::fchownat(directory, name.c_str(), user, group, AT_SYMLINK_NOFOLLOW), "set the owner of",
          path);
  }
  if (!is_link) {
    check(::fchmodat(directory, name.c_str(), file.mode & permissions, 0), "set the mode of", path);
  }
  const auto times = times_of(file);
  check(::utimensat(directory, name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW), "set the time of",
        path);
}

void RootDirectory::finish_directory(int directory,
                                     const RootFile& file,
                                     const std::string& path) const {
  set_attributes(directory, file, path);
  const unsigned mode =
      starter_.is_root ? file.mode & permissions : (file.mode & without_set_id) | S_IRWXU;
  check(::fchmod(directory, mode), "set the mode of", path);
  const auto times = times_of(file);
  check(::futimens(directory, times.data()), "set the time of", path);
}

void RootDirectory::fill(int directory, const RootFile& from, std::string& path) {
  const std::size_t length = path.size();
  for (const auto& [name, file] : from.children) {
    path.append("/").append(name);
    if (file->is_directory()) {
      const auto made = make_directory(directory, name, path);
      fill(made.get(), *file, path);
      finish_directory(made.get(), *file, path);
    } else {
      add(directory, name, *file, path);
    }
    path.resize(length);
  }
}

FileDescriptor RootDirectory::make_directory(int directory,
                                             const std::string& name,
                                             const std::string& path) {
  check(::mkdirat(directory, name.c_str(), 0700), "make", path);
  FileDescriptor made{
      ::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!made) {
    throw failure("open", path, errno);
  }
  return made;
}

void RootDirectory::finish(const RootFile& root) {
  std::string path = root_name;
  const auto made = make_directory(directory_.get(), root_name, path);
  fill(made.get(), root, path);
  finish_directory(made.get(), root, path);
  // Hard links have other names by now, and some files none.
  remove_tree(directory_path_ / contents_name);
}

}  // namespace autopack::bundle
