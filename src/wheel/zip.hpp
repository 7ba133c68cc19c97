#pragma once

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "image/source.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::wheel {

/// A file in a zip archive.
struct Member {
  enum class Method : unsigned char { stored, deflated };

  std::string name{};  ///< relative, `/`-separated, UTF-8, without `.` and `..`
  unsigned mode{0};    ///< Unix type and permissions; 0 if the archive has none
  Method method{Method::stored};
  std::uint32_t crc{0};
  std::uint64_t size{0};
  std::uint64_t compressed_size{0};
  std::uint64_t offset{0};  ///< of its data in the archive
};

/// A zip archive that every reader reads the same way: its directory and the headers of its members
/// agree, there are no bytes between or around them, and no name leads outside.
class Zip {
public:
  using Take = std::function<void(std::string_view bytes)>;

  /// `name` is the archive's name in messages. Throws Error(project) if the archive is invalid,
  /// Error(environment) if it cannot be read.
  static Zip open(const std::filesystem::path& path, std::string name);

  const std::string& name() const { return name_; }

  std::uint64_t size() const { return size_; }

  /// Returns the files, without directories, in archive order.
  const std::vector<Member>& members() const { return members_; }

  /// Returns the member with that name, or null.
  const Member* find(std::string_view name) const;

  /// Passes the stored bytes to `take`, without decompressing them.
  void raw(const Member& member, const Take& take) const;
  /// Passes the file's bytes to `take` and, unless it is empty, those of raw() to `packed`, in the
  /// same pass. Throws Error(project) at the end if they do not match the archive's size and
  /// checksum.
  void read(const Member& member, const Take& take, const Take& packed = {}) const;
  /// Returns the file's first `count` bytes, or all if it has fewer. Does not check the rest.
  std::string beginning(const Member& member, std::size_t count) const;
  /// Returns a small file as a whole. Throws Error(project) if it is larger than `limit`.
  std::string text(const Member& member, std::uint64_t limit) const;

  /// Returns an Error(project) that names the archive and explains why it cannot be used.
  Error fault(const std::string& why) const;

private:
  Zip(std::string name, FileDescriptor file, std::uint64_t size)
      : name_{std::move(name)},
        file_{std::make_shared<FileDescriptor>(std::move(file))},
        size_{size} {}

  void find_members();
  /// Reads the stored bytes, and passes them to `packed` as well unless it is empty.
  image::Reader reader_of(const Member& member, Take packed = {}) const;
  /// Fills `buffer`, starting at `offset`.
  void read_at(std::uint64_t offset, char* buffer, std::size_t count) const;
  std::string bytes_at(std::uint64_t offset, std::uint64_t count) const;

  friend class ZipDirectory;

  std::string name_;
  std::shared_ptr<FileDescriptor> file_;
  std::uint64_t size_;
  std::vector<Member> members_{};
  std::vector<std::size_t> by_name_{};
};

/// Returns why `name` is not an unambiguous name of a file below a directory, or nothing if it is.
std::optional<std::string> name_fault(std::string_view name);

}  // namespace autopack::wheel
