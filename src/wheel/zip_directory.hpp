#pragma once

#include "wheel/zip.hpp"
#include "wheel/zip_fields.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::wheel {

/// An entry of a zip archive's directory, and what the header before its data must say again.
struct ZipEntry {
  Member member{};
  unsigned flags{0};
  std::uint64_t header{0};  ///< where the header before its data begins
  bool is_directory{false};

  /// As it stands in the archive: that of a directory ends with a slash.
  std::string whole_name() const { return member.name + (is_directory ? "/" : ""); }
};

/// Where the directory of an archive stands.
struct ZipEnd {
  std::uint64_t count{0};
  std::uint64_t size{0};
  std::uint64_t offset{0};
  std::uint64_t begin{0};  ///< of the records that end the archive
};

/// Reads an archive's directory and holds the headers of its members against it (APPNOTE 4.3).
class ZipDirectory {
public:
  explicit ZipDirectory(const Zip& zip) : zip_{zip} {}

  /// All entries in the order of their data. Throws Error(project).
  std::vector<ZipEntry> read() const;

private:
  ZipEnd find_end() const;
  /// What the records of large archives say in place of `end`, which begins there.
  ZipEnd large_end(const ZipEnd& end) const;
  std::vector<ZipEntry> read_entries(const ZipEnd& end) const;
  ZipEntry read_entry(Fields& fields) const;
  /// Sets where the data of `entry` begin; they and what follows them end at `next`.
  void check_header(ZipEntry& entry, std::uint64_t next) const;
  void check_descriptor(const ZipEntry& entry, std::uint64_t begin, std::uint64_t next) const;

  const Zip& zip_;
};

}  // namespace autopack::wheel
