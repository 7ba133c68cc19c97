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
  unsigned mode{0};    ///< type and permissions as Unix has them; 0 when the archive tells none
  Method method{Method::stored};
  std::uint32_t crc{0};
  std::uint64_t size{0};
  std::uint64_t compressed_size{0};
  std::uint64_t offset{0};  ///< where its data begin in the archive
};

/// A zip archive that every reader reads alike: its directory and the headers of its members agree,
/// nothing stands between them or around them, and no name leads out of it.
class Zip {
public:
  using Take = std::function<void(std::string_view bytes)>;

  /// `name` is what messages call it. Throws Error(project) that says what is wrong with it,
  /// Error(environment) when it cannot be read.
  static Zip open(const std::filesystem::path& path, std::string name);

  const std::string& name() const { return name_; }

  std::uint64_t size() const { return size_; }

  /// Its files, without its directories, in the order in which they stand in it.
  const std::vector<Member>& members() const { return members_; }

  /// The member of that name; null when there is none.
  const Member* find(std::string_view name) const;

  /// Gives `take` the bytes as they stand in the archive.
  void raw(const Member& member, const Take& take) const;
  /// Gives `take` the file's bytes and, unless it is empty, `packed` those that raw() gives, in the
  /// same pass. Throws Error(project) at their end when they are not those that the archive tells
  /// of.
  void read(const Member& member, const Take& take, const Take& packed = {}) const;
  /// The file's first `count` bytes, or all when it has fewer; the rest is not checked.
  std::string beginning(const Member& member, std::size_t count) const;
  /// A whole small file. Throws Error(project) when it is larger than `limit`.
  std::string text(const Member& member, std::uint64_t limit) const;

  /// Error(project) that names the archive and says why it cannot be used.
  Error fault(const std::string& why) const;

private:
  Zip(std::string name, FileDescriptor file, std::uint64_t size)
      : name_{std::move(name)},
        file_{std::make_shared<FileDescriptor>(std::move(file))},
        size_{size} {}

  void find_members();
  /// Gives the bytes as they stand in the archive, to `packed` as well unless it is empty.
  image::Reader reader_of(const Member& member, Take packed = {}) const;
  /// Fills `buffer` from `offset` on.
  void read_at(std::uint64_t offset, char* buffer, std::size_t count) const;
  std::string bytes_at(std::uint64_t offset, std::uint64_t count) const;

  friend class ZipDirectory;

  std::string name_;
  std::shared_ptr<FileDescriptor> file_;
  std::uint64_t size_;
  std::vector<Member> members_{};
  std::vector<std::size_t> by_name_{};
};

/// What makes `name` no name of a file below a directory that everybody reads alike; none when
/// nothing does.
std::optional<std::string> name_fault(std::string_view name);

}  // namespace autopack::wheel
