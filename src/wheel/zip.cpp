#include "wheel/zip.hpp"

#include "base/digest.hpp"
#include "base/text.hpp"
#include "image/inflate.hpp"
#include "wheel/zip_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <system_error>

namespace autopack::wheel {

namespace {

constexpr std::size_t piece{std::size_t{256} << 10U};
/// Limits of the unpacked size: more than any wheel has, less than a zip bomb needs.
constexpr std::uint64_t always_unpacked{std::uint64_t{1} << 30U};
constexpr std::uint64_t most_unpacked{std::uint64_t{64} << 30U};
constexpr std::uint64_t most_ratio{200};

Error unreadable(const std::string& name, int code) {
  return Error(ErrorKind::environment, "cannot read `" + printable(name) + "`")
      .cause(std::generic_category().message(code));
}

/// True if two members with one name are the same file twice.
bool same(const Zip& zip, const Member& a, const Member& b) {
  const auto digest = [&](const Member& member) {
    Sha256 hash;
    zip.read(member, [&](std::string_view bytes) { hash.update(bytes); });
    return hash.finish();
  };
  return a.crc == b.crc && a.size == b.size && a.mode == b.mode && digest(a) == digest(b);
}

}  // namespace

Zip Zip::open(const std::filesystem::path& path, std::string name) {
  FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
  struct stat facts = {};
  if (!file || ::fstat(file.get(), &facts) != 0) {
    throw unreadable(name, errno);
  }
  if (!S_ISREG(facts.st_mode)) {
    throw Error(ErrorKind::environment, "`" + printable(name) + "` is not a file");
  }
  Zip zip{std::move(name), std::move(file), static_cast<std::uint64_t>(facts.st_size)};
  zip.find_members();
  return zip;
}

void Zip::find_members() {
  auto entries = ZipDirectory{*this}.read();
  std::uint64_t unpacked = 0;
  for (auto& entry : entries) {
    if (!entry.is_directory) {
      unpacked += entry.member.size;
      members_.push_back(std::move(entry.member));
    }
    if (unpacked > most_unpacked || (unpacked > always_unpacked && unpacked / most_ratio > size_)) {
      throw fault(fmt::format("its {} would unpack to {} or more", human_size(size_),
                              human_size(unpacked)));
    }
  }
  by_name_.resize(members_.size());
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  const auto name_of = [this](std::size_t i) -> const std::string& { return members_[i].name; };
  std::ranges::stable_sort(by_name_,
                           [&](std::size_t a, std::size_t b) { return name_of(a) < name_of(b); });
  std::vector<std::size_t> doubles;
  for (std::size_t i = 1; i < by_name_.size(); ++i) {
    if (name_of(by_name_[i - 1]) != name_of(by_name_[i])) {
      continue;
    }
    if (!same(*this, members_[by_name_[i - 1]], members_[by_name_[i]])) {
      throw fault("it holds `" + name_of(by_name_[i]) + "` twice, with different contents");
    }
    doubles.push_back(by_name_[i]);
  }
  if (doubles.empty()) {
    return;
  }
  std::ranges::sort(doubles, std::greater<>{});
  for (const std::size_t i : doubles) {
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  by_name_.resize(members_.size());
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::ranges::sort(by_name_,
                    [&](std::size_t a, std::size_t b) { return name_of(a) < name_of(b); });
}

const Member* Zip::find(std::string_view name) const {
  const auto found =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [this](std::size_t i, std::string_view n) { return members_[i].name < n; });
  return found != by_name_.end() && members_[*found].name == name ? &members_[*found] : nullptr;
}

void Zip::raw(const Member& member, const Take& take) const {
  const auto size = std::min<std::uint64_t>(member.compressed_size, piece);
  // The buffer is overwritten, so it is not initialised.
  const auto buffer =
      std::make_unique_for_overwrite<char[]>(size);  // NOLINT(modernize-avoid-c-arrays)
  const auto reader = reader_of(member);
  while (const std::size_t count = reader(buffer.get(), size)) {
    take({buffer.get(), count});
  }
}

void Zip::read(const Member& member, const Take& take, const Take& packed) const {
  std::uint32_t crc = 0;
  const auto taking = [&](std::string_view bytes) {
    crc = image::crc32(crc, bytes);
    take(bytes);
  };
  bool is_whole = true;
  if (member.method == Member::Method::stored) {
    raw(member, [&](std::string_view bytes) {
      taking(bytes);
      if (packed) {
        packed(bytes);
      }
    });
  } else {
    is_whole =
        image::inflate(reader_of(member, packed), member.compressed_size, member.size, taking);
  }
  if (!is_whole) {
    throw fault("`" + member.name + "` does not decompress to its stated size");
  }
  if (crc != member.crc) {
    throw fault("`" + member.name + "` is damaged: its checksum differs");
  }
}

std::string Zip::beginning(const Member& member, std::size_t count) const {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(member.size, count));
  return member.method == Member::Method::stored
             ? bytes_at(member.offset, size)
             : image::inflate_beginning(reader_of(member), size);
}

std::string Zip::text(const Member& member, std::uint64_t limit) const {
  if (member.size > limit) {
    throw fault(fmt::format("`{}` has {}; at most {} are read", member.name,
                            human_size(member.size), human_size(limit)));
  }
  std::string text;
  read(member, [&](std::string_view bytes) { text += bytes; });
  return text;
}

Error Zip::fault(const std::string& why) const {
  return Error(ErrorKind::project, "`" + printable(name_) + "` cannot be installed").cause(why);
}

image::Reader Zip::reader_of(const Member& member, Take packed) const {
  return [this, &member, packed = std::move(packed), done = std::uint64_t{0}](
             char* buffer, std::size_t size) mutable {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(
        member.compressed_size - done, packed ? std::min(size, piece) : size));
    read_at(member.offset + done, buffer, count);
    done += count;
    if (packed) {
      packed({buffer, count});
    }
    return count;
  };
}

void Zip::read_at(std::uint64_t offset, char* buffer, std::size_t count) const {
  while (count > 0) {
    const ssize_t got = ::pread(file_->get(), buffer, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      throw unreadable(name_, errno);
    }
    if (got == 0) {
      throw fault("it became shorter while it was read");
    }
    buffer += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
}

std::string Zip::bytes_at(std::uint64_t offset, std::uint64_t count) const {
  std::string bytes(count, '\0');
  read_at(offset, bytes.data(), bytes.size());
  return bytes;
}

}  // namespace autopack::wheel
