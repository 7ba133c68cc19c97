#include "image/archive_reader.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/library.hpp"
#include "base/text.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

namespace autopack::image {

namespace {

/// The functions of libarchive in use, by their names without `archive_`.
#define AUTOPACK_ARCHIVE_FUNCTIONS(X) \
  X(entry_filetype);                  \
  X(entry_gid);                       \
  X(entry_hardlink);                  \
  X(entry_mtime);                     \
  X(entry_pathname);                  \
  X(entry_perm);                      \
  X(entry_rdevmajor);                 \
  X(entry_rdevminor);                 \
  X(entry_size);                      \
  X(entry_symlink);                   \
  X(entry_uid);                       \
  X(entry_xattr_next);                \
  X(entry_xattr_reset);               \
  X(error_string);                    \
  X(filter_bytes);                    \
  X(read_data);                       \
  X(read_free);                       \
  X(read_new);                        \
  X(read_next_header);                \
  X(read_open);                       \
  X(read_open_fd);                    \
  X(read_set_format_option);          \
  X(read_support_filter_gzip);        \
  X(read_support_filter_zstd);        \
  X(read_support_format_empty);       \
  X(read_support_format_raw);         \
  X(read_support_format_tar);         \
  X(set_error)

/// Pointers to the functions, under the same names; see base/library.hpp.
struct ArchiveFunctions {
// NOLINTBEGIN(bugprone-macro-parentheses): the argument is the name of a member.
#define AUTOPACK_MEMBER(name) \
  decltype(&archive_##name) name {}
  AUTOPACK_ARCHIVE_FUNCTIONS(AUTOPACK_MEMBER);
#undef AUTOPACK_MEMBER
  // NOLINTEND(bugprone-macro-parentheses)
};

ArchiveFunctions open_libarchive() {
  // The soname since libarchive 3.1 (2013).
  const Library library{
      "libarchive.so.13",
      "install libarchive: `apt-get install libarchive13t64`, before Debian 13 `libarchive13`"};
  ArchiveFunctions functions;
#define AUTOPACK_FIND(name) library.find("archive_" #name, functions.name)
  AUTOPACK_ARCHIVE_FUNCTIONS(AUTOPACK_FIND);
#undef AUTOPACK_FIND
  return functions;
}

#undef AUTOPACK_ARCHIVE_FUNCTIONS

/// Opens libarchive on the first call. Throws Error(environment) if it is not installed.
const ArchiveFunctions& libarchive() {
  static const ArchiveFunctions functions = open_libarchive();
  return functions;
}

constexpr std::size_t piece_size{std::size_t{1} << 18U};
/// Linux's limit for a path or a link's target, and more directories than any image nests.
constexpr std::size_t longest_path{4096};
constexpr std::ptrdiff_t most_directories{512};

/// The state of libarchive's read callback. An exception waits here until the C code has returned.
struct Input {
  Reader reader{};
  std::string buffer = std::string(piece_size, '\0');
  std::exception_ptr failure{};
};

la_ssize_t read_more(archive* handle, void* data, const void** bytes) {
  Input& input = *static_cast<Input*>(data);
  try {
    *bytes = input.buffer.data();
    return static_cast<la_ssize_t>(input.reader(input.buffer.data(), input.buffer.size()));
  } catch (...) {
    input.failure = std::current_exception();
    libarchive().set_error(handle, EIO, "reading failed");
    return -1;
  }
}

ArchiveEntry::Type type_of(archive_entry* entry) {
  if (libarchive().entry_hardlink(entry) != nullptr) {
    return ArchiveEntry::Type::hard_link;
  }
  switch (libarchive().entry_filetype(entry)) {
    case AE_IFREG: return ArchiveEntry::Type::file;
    case AE_IFDIR: return ArchiveEntry::Type::directory;
    case AE_IFLNK: return ArchiveEntry::Type::symlink;
    default: return ArchiveEntry::Type::other;
  }
}

/// Sets what only files besides ordinary files, directories and links have.
void read_special(archive_entry* entry, ArchiveEntry& result) {
  switch (libarchive().entry_filetype(entry)) {
    case AE_IFCHR: result.special = S_IFCHR; break;
    case AE_IFBLK: result.special = S_IFBLK; break;
    case AE_IFIFO: result.special = S_IFIFO; break;
    default: result.special = 0; break;
  }
  result.device_major = libarchive().entry_rdevmajor(entry);
  result.device_minor = libarchive().entry_rdevminor(entry);
}

void read_attributes(archive_entry* entry, ArchiveEntry& result) {
  result.attributes.clear();
  if (libarchive().entry_xattr_reset(entry) == 0) {
    return;
  }
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  while (libarchive().entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK) {
    if (name != nullptr) {
      result.attributes[name] = std::string{static_cast<const char*>(value), size};
    }
  }
}

std::string text_of(const char* text) {
  return text == nullptr ? "" : text;
}

bool is_possible(const std::string& path) {
  return path.size() <= longest_path && std::ranges::count(path, '/') <= most_directories;
}

struct Close {
  void operator()(archive* handle) const { libarchive().read_free(handle); }
};

using Handle = std::unique_ptr<archive, Close>;

Handle new_handle() {
  Handle handle{libarchive().read_new()};
  if (handle == nullptr) {
    throw Error(ErrorKind::environment, "no memory to read an archive");
  }
  return handle;
}

Error unreadable(const Handle& handle, const std::string& outcome) {
  const char* why = libarchive().error_string(handle.get());
  return Error(ErrorKind::environment, outcome).cause(why == nullptr ? "it is damaged" : why);
}

/// Rethrows the exception of the input, else throws libarchive's message if `status` is an error.
void check_tar(int status, Input& input, const Handle& handle, const std::string& what) {
  if (input.failure) {
    std::rethrow_exception(std::exchange(input.failure, nullptr));
  }
  if (status < ARCHIVE_WARN) {
    throw unreadable(handle, fmt::format("{} is not a readable tar archive", what));
  }
}

void drain(Input& input) {
  while (input.reader(input.buffer.data(), input.buffer.size()) != 0) {
  }
}

/// The data of a reader, decompressed if it is in gzip or zstd format.
class Decompressor {
public:
  Decompressor(const Reader& reader, const std::string& what) : what_{what} {
    input_.reader = reader;
    libarchive().read_support_filter_gzip(handle_.get());
    libarchive().read_support_filter_zstd(handle_.get());
    libarchive().read_support_format_empty(handle_.get());
    libarchive().read_support_format_raw(handle_.get());
    check(libarchive().read_open(handle_.get(), &input_, nullptr, &read_more, nullptr));
    archive_entry* entry = nullptr;
    const int status = libarchive().read_next_header(handle_.get(), &entry);
    ended_ = status == ARCHIVE_EOF;
    check(ended_ ? ARCHIVE_OK : status);
  }

  /// As a Reader.
  std::size_t read(char* buffer, std::size_t size) {
    if (ended_) {
      return 0;
    }
    const la_ssize_t count = libarchive().read_data(handle_.get(), buffer, size);
    check(count < 0 ? static_cast<int>(count) : ARCHIVE_OK);
    ended_ = count <= 0;
    hash_.update({buffer, static_cast<std::size_t>(std::max<la_ssize_t>(count, 0))});
    return ended_ ? 0 : static_cast<std::size_t>(count);
  }

  /// Returns the digest of the whole input, including bytes that follow the compressed data.
  Digest finish() {
    drain(input_);
    return hash_.finish();
  }

private:
  void check(int status) { check_tar(status, input_, handle_, what_); }

  Input input_;
  const std::string& what_;
  Sha256 hash_;
  bool ended_{false};
  Handle handle_{new_handle()};
};

class TarReader {
public:
  TarReader(const Reader& reader, const std::string& what) : TarReader{what} {
    input_.reader = reader;
    libarchive().read_support_filter_gzip(handle_.get());
    libarchive().read_support_filter_zstd(handle_.get());
    libarchive().read_support_format_empty(handle_.get());
    check(libarchive().read_open(handle_.get(), &input_, nullptr, &read_more, nullptr));
  }

  /// Reads from a file, and seeks past the contents of entries.
  TarReader(int descriptor, const std::string& what) : TarReader{what} {
    check(libarchive().read_open_fd(handle_.get(), descriptor, 10240));
  }

  bool next(ArchiveEntry& result) {
    archive_entry* entry = nullptr;
    const int status = libarchive().read_next_header(handle_.get(), &entry);
    if (status == ARCHIVE_EOF) {
      return false;
    }
    check(status);
    result.path = text_of(libarchive().entry_pathname(entry));
    result.type = type_of(entry);
    result.mode = libarchive().entry_perm(entry);
    result.time = libarchive().entry_mtime(entry);
    result.user = libarchive().entry_uid(entry);
    result.group = libarchive().entry_gid(entry);
    read_special(entry, result);
    read_attributes(entry, result);
    result.size = static_cast<std::uint64_t>(libarchive().entry_size(entry));
    result.link =
        text_of(result.type == ArchiveEntry::Type::symlink ? libarchive().entry_symlink(entry)
                                                           : libarchive().entry_hardlink(entry));
    if (!is_possible(result.path) || !is_possible(result.link)) {
      throw Error(ErrorKind::environment, fmt::format("{} cannot be unpacked", what_))
          .cause(fmt::format("the path or link `{}...` is longer than any file system allows",
                             printable(result.path.substr(0, 60))));
    }
    result.data = static_cast<std::uint64_t>(libarchive().filter_bytes(handle_.get(), 0));
    return true;
  }

  /// As a Reader, for the file whose header was read last.
  std::size_t read(char* buffer, std::size_t size) {
    const la_ssize_t count = libarchive().read_data(handle_.get(), buffer, size);
    check(count < 0 ? static_cast<int>(count) : ARCHIVE_OK);
    return static_cast<std::size_t>(std::max<la_ssize_t>(count, 0));
  }

  /// Returns the contents of that file.
  std::string read(std::size_t size) {
    std::string text(size, '\0');
    std::size_t count = 0;
    while (count < size) {
      const std::size_t more = read(text.data() + count, size - count);
      if (more == 0) {
        break;
      }
      count += more;
    }
    text.resize(count);
    return text;
  }

  /// Bytes after the end of the tar are part of the digest.
  void pass_over_rest() { drain(input_); }

private:
  explicit TarReader(const std::string& what) : what_{what} {
    libarchive().read_support_format_tar(handle_.get());
    // Treats names as bytes, whatever the locale.
    libarchive().read_set_format_option(handle_.get(), "tar", "hdrcharset", "BINARY");
  }

  void check(int status) { check_tar(status, input_, handle_, what_); }

  Input input_;
  const std::string& what_;
  Handle handle_{new_handle()};
};

void take_each(TarReader& tar, const TakeContent& take) {
  const Reader content = [&](char* buffer, std::size_t size) { return tar.read(buffer, size); };
  for (ArchiveEntry entry; tar.next(entry);) {
    take(entry, content);
  }
}

}  // namespace

Digest read_contents(const Reader& reader, const std::string& what, const TakeContent& take) {
  Decompressor plain{reader, what};
  TarReader tar{[&](char* buffer, std::size_t size) { return plain.read(buffer, size); }, what};
  take_each(tar, take);
  tar.pass_over_rest();
  return plain.finish();
}

void read_plain_contents(const Reader& reader, const std::string& what, const TakeContent& take) {
  TarReader tar{reader, what};
  take_each(tar, take);
  tar.pass_over_rest();
}

std::optional<std::string> read_member(const Reader& reader,
                                       const std::string& what,
                                       std::string_view name,
                                       std::size_t limit) {
  TarReader tar{reader, what};
  std::optional<std::string> found;
  for (ArchiveEntry entry; tar.next(entry);) {
    const std::string path = "/" + normal_path(entry.path);
    if (entry.type == ArchiveEntry::Type::file && path.ends_with("/" + std::string{name}) &&
        entry.size <= limit) {
      found = tar.read(entry.size);
    }
  }
  tar.pass_over_rest();
  return found;
}

void index_archive(int descriptor,
                   const std::string& what,
                   const std::function<void(const ArchiveEntry&)>& take) {
  TarReader tar{descriptor, what};
  for (ArchiveEntry entry; tar.next(entry);) {
    take(entry);
  }
}

void decompress(int descriptor,
                const std::string& what,
                const std::function<void(std::string_view)>& take) {
  const Handle handle = new_handle();
  libarchive().read_support_filter_gzip(handle.get());
  libarchive().read_support_filter_zstd(handle.get());
  libarchive().read_support_format_raw(handle.get());
  archive_entry* entry = nullptr;
  bool good = libarchive().read_open_fd(handle.get(), descriptor, piece_size) == ARCHIVE_OK &&
              libarchive().read_next_header(handle.get(), &entry) == ARCHIVE_OK;
  std::string buffer(piece_size, '\0');
  while (good) {
    const la_ssize_t count = libarchive().read_data(handle.get(), buffer.data(), buffer.size());
    if (count == 0) {
      return;
    }
    good = count > 0;
    if (good) {
      take({buffer.data(), static_cast<std::size_t>(count)});
    }
  }
  throw unreadable(handle, fmt::format("{} cannot be decompressed", what));
}

std::string decompressed(std::string_view bytes, std::size_t limit) {
  const std::string what = "compressed bytes";
  Decompressor plain{[&](char* buffer, std::size_t size) {
                       const std::size_t count = bytes.copy(buffer, size);
                       bytes.remove_prefix(count);
                       return count;
                     },
                     what};
  std::string text;
  std::string buffer(piece_size, '\0');
  while (const std::size_t count = plain.read(buffer.data(), buffer.size())) {
    text.append(buffer, 0, count);
    if (text.size() > limit) {
      throw Error(ErrorKind::environment, fmt::format("{} are too large when decompressed", what));
    }
  }
  return text;
}

std::string normal_path(std::string_view path) {
  while (path.starts_with("./") || path.starts_with('/')) {
    path.remove_prefix(path.starts_with('/') ? 1 : 2);
  }
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  return path == "." ? std::string{} : std::string{path};
}

}  // namespace autopack::image
