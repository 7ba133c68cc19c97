#pragma once

#include "wheel/zip.hpp"
#include "wheel/zip_fields.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::wheel {

/// An entry of a zip archive's directory, with the fields that the header before its data must
/// repeat.
struct ZipEntry {
  Member member{};
  unsigned flags{0};
  std::uint64_t header{0};  ///< offset of the header before its data
  bool is_directory{false};

  /// Returns the name in the archive: that of a directory ends with a slash.
  std::string whole_name() const { return member.name + (is_directory ? "/" : ""); }
};

/// The position of an archive's directory.
struct ZipEnd {
  std::uint64_t count{0};
  std::uint64_t size{0};
  std::uint64_t offset{0};
  std::uint64_t begin{0};  ///< of the records at the end of the archive
};

/// Reads an archive's directory and compares it with the headers of its members (APPNOTE 4.3).
class ZipDirectory {
public:
  explicit ZipDirectory(const Zip& zip) : zip_{zip} {}

  /// Returns all entries in the order of their data. Throws Error(project).
  std::vector<ZipEntry> read() const;

private:
  ZipEnd find_end() const;
  /// Returns the values in the records of a large archive, or `end` if it has none. These records
  /// are before `end.begin`.
  ZipEnd large_end(const ZipEnd& end) const;
  std::vector<ZipEntry> read_entries(const ZipEnd& end) const;
  ZipEntry read_entry(Fields& fields) const;
  /// Sets the offset of the data of `entry`. The data and what follows it must end at `next`.
  void check_header(ZipEntry& entry, std::uint64_t next) const;
  void check_descriptor(const ZipEntry& entry, std::uint64_t begin, std::uint64_t next) const;

  const Zip& zip_;
};

}  // namespace autopack::wheel
