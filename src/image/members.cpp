#include "image/members.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "image/archive_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

namespace autopack::image {

namespace {

namespace fs = std::filesystem;
using File = FileDescriptor;

constexpr std::uint64_t largest_text{8U << 20U};

/// The number of links that Linux follows.
constexpr int most_links_followed{40};

Error cannot_read(const fs::path& path, int code) {
  return Error(ErrorKind::usage, fmt::format("cannot read `{}`", printable(path.string())))
      .cause(std::strerror(code));
}

std::shared_ptr<const File> open_file(const fs::path& path) {
  auto file = std::make_shared<const File>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!*file) {
    throw cannot_read(path, errno);
  }
  return file;
}

/// Reads bytes `begin` to `end` of a file that readers in several threads may share.
Reader read_range(std::shared_ptr<const File> file,
                  fs::path path,
                  std::uint64_t begin,
                  std::uint64_t end) {
  return [file = std::move(file), path = std::move(path), at = begin, end](
             char* buffer, std::size_t size) mutable -> std::size_t {
    for (;;) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size, end - at));
      const ssize_t count = ::pread(file->get(), buffer, wanted, static_cast<off_t>(at));
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count < 0) {
        throw cannot_read(path, errno);
      }
      at += static_cast<std::uint64_t>(count);
      return static_cast<std::size_t>(count);
    }
  };
}

class Directory final : public Members {
public:
  explicit Directory(fs::path path) : path_{std::move(path)} {}

  std::optional<std::uint64_t> size(const std::string& name) const override {
    std::error_code failure;
    const auto size = fs::file_size(path_ / name, failure);
    return failure ? std::nullopt : std::optional<std::uint64_t>{size};
  }

  Reader open(const std::string& name) const override {
    const fs::path path = path_ / name;
    auto file = open_file(path);
    return read_range(std::move(file), path, 0, size(name).value_or(0));
  }

private:
  fs::path path_;
};

bool is_compressed(const File& file) {
  std::string head(4, '\0');
  const ssize_t count = ::pread(file.get(), head.data(), head.size(), 0);
  head.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return head.starts_with("\x1f\x8b") || head.starts_with("\x28\xb5\x2f\xfd");
}

/// Decompresses `file` into a file that disappears when it is closed.
std::shared_ptr<const File> unpacked(const File& file, const fs::path& path) {
  const fs::path directory = fs::temp_directory_path();
  auto plain = std::make_shared<const File>(
      ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  const auto cannot_write = [&] {
    return Error(ErrorKind::environment,
                 fmt::format("cannot unpack `{}` in `{}`", printable(path.string()),
                             printable(directory.string())))
        .cause(std::strerror(errno))
        .hint("set TMPDIR to another directory");
  };
  if (!*plain) {
    throw cannot_write();
  }
  decompress(file.get(), "`" + printable(path.string()) + "`", [&](std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(plain->get(), bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) {
        throw cannot_write();
      }
      bytes.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
    }
  });
  ::lseek(plain->get(), 0, SEEK_SET);
  return plain;
}

class Tar final : public Members {
public:
  explicit Tar(const fs::path& path) : path_{path}, file_{open_file(path)} {
    if (is_compressed(*file_)) {
      file_ = unpacked(*file_, path);
    }
    index_archive(file_->get(), "`" + printable(path.string()) + "`",
                  [&](const ArchiveEntry& entry) { take(entry); });
  }

  std::optional<std::uint64_t> size(const std::string& name) const override {
    const auto* member = find(name);
    return member == nullptr ? std::nullopt : std::optional{member->end - member->begin};
  }

  Reader open(const std::string& name) const override {
    const auto* member = find(name);
    if (member == nullptr) {
      throw Error(ErrorKind::environment,
                  fmt::format("`{}` holds no `{}`", printable(path_.string()), printable(name)));
    }
    return read_range(file_, path_, member->begin, member->end);
  }

private:
  struct Member {
    std::uint64_t begin{0};
    std::uint64_t end{0};
    std::string link{};
  };

  void take(const ArchiveEntry& entry) {
    using Type = ArchiveEntry::Type;
    const std::string name = normal_path(entry.path);
    if (entry.type == Type::file) {
      members_[name] = {.begin = entry.data, .end = entry.data + entry.size};
    } else if (entry.type == Type::hard_link) {
      members_[name] = {.link = normal_path(entry.link)};
    } else if (entry.type == Type::symlink) {
      // `docker save` writes equal layers once, and links for the rest.
      members_[name] = {
          .link = (fs::path{name}.parent_path() / entry.link).lexically_normal().string()};
    }
  }

  const Member* find(std::string name) const {
    name = normal_path(name);
    for (int links = 0; links < most_links_followed; ++links) {
      const auto found = members_.find(name);
      if (found == members_.end()) {
        return nullptr;
      }
      if (found->second.link.empty()) {
        return &found->second;
      }
      name = found->second.link;
    }
    return nullptr;
  }

  fs::path path_;
  std::shared_ptr<const File> file_;
  std::map<std::string, Member> members_;
};

}  // namespace

std::optional<std::string> Members::text(const std::string& name) const {
  const auto bytes = size(name);
  if (!bytes) {
    return std::nullopt;
  }
  if (*bytes > largest_text) {
    throw Error(ErrorKind::environment,
                fmt::format("`{}` is too large: {}", printable(name), human_size(*bytes)));
  }
  std::string text;
  read_all(open(name), [&](std::string_view piece) { text += piece; });
  return text;
}

std::shared_ptr<const Members> open_directory(const fs::path& directory) {
  std::error_code failure;
  if (!fs::is_directory(directory, failure)) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` is not a directory", printable(directory.string())));
  }
  return std::make_shared<const Directory>(directory);
}

std::shared_ptr<const Members> open_tar(const fs::path& file) {
  try {
    return std::make_shared<const Tar>(file);
  } catch (Error& error) {
    error.hint("`docker save -o FILE IMAGE` creates one");
    throw;
  }
}

}  // namespace autopack::image
