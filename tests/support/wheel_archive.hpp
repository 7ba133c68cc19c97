#pragma once

#include "base/file.hpp"
#include "image/inflate.hpp"
#include "wheel/texts.hpp"

#include <libdeflate.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace autopack {

/// A file in an archive of a test.
struct ArchivedFile {
  std::string name{};
  std::string content{};
  unsigned mode{0100644};
  bool is_stored{false};
};

inline std::string little_endian(std::uint64_t value, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    bytes += static_cast<char>(value & 0xffU);
    value >>= 8U;
  }
  return bytes;
}

inline std::string deflated(std::string_view content) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> owner{
      libdeflate_alloc_compressor(6), &libdeflate_free_compressor};
  std::string bytes(libdeflate_deflate_compress_bound(owner.get(), content.size()), '\0');
  bytes.resize(libdeflate_deflate_compress(owner.get(), content.data(), content.size(),
                                           bytes.data(), bytes.size()));
  return bytes;
}

/// Returns a zip archive of `files`.
inline std::string zip_archive(const std::vector<ArchivedFile>& files) {
  std::string bytes;
  std::string directory;
  for (const auto& file : files) {
    const std::string data = file.is_stored ? file.content : deflated(file.content);
    const std::string facts =
        little_endian(0, 2) + little_endian(file.is_stored ? 0 : 8, 2) + little_endian(0, 4) +
        little_endian(image::crc32(0, file.content), 4) + little_endian(data.size(), 4) +
        little_endian(file.content.size(), 4) + little_endian(file.name.size(), 2) +
        little_endian(0, 2);
    directory += "PK\1\2" + little_endian(0x0314, 2) + little_endian(20, 2) + facts +
                 little_endian(0, 6) + little_endian(std::uint64_t{file.mode} << 16U, 4) +
                 little_endian(bytes.size(), 4) + file.name;
    bytes += "PK\3\4" + little_endian(20, 2) + facts + file.name + data;
  }
  return bytes + directory + "PK\5\6" + little_endian(0, 4) + little_endian(files.size(), 2) +
         little_endian(files.size(), 2) + little_endian(directory.size(), 4) +
         little_endian(bytes.size(), 4) + little_endian(0, 2);
}

/// Writes a wheel of version 1.0 with `files` into `directory`; returns its path. `metadata` are
/// additional lines of METADATA.
inline std::filesystem::path write_wheel(const std::filesystem::path& directory,
                                         const std::string& name,
                                         std::vector<ArchivedFile> files,
                                         const std::string& entry_points = {},
                                         const std::string& metadata = {}) {
  const std::string info = name + "-1.0.dist-info/";
  files.push_back(
      {.name = info + "METADATA", .content = "Name: " + name + "\nVersion: 1.0\n" + metadata});
  files.push_back({.name = info + "WHEEL",
                   .content = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"});
  if (!entry_points.empty()) {
    files.push_back({.name = info + "entry_points.txt", .content = entry_points});
  }
  std::vector<wheel::RecordRow> rows;
  for (const auto& file : files) {
    rows.push_back({.path = file.name,
                    .hash = wheel::record_hash(file.content),
                    .size = std::to_string(file.content.size())});
  }
  rows.push_back({.path = info + "RECORD"});
  files.push_back({.name = info + "RECORD", .content = wheel::write_record(std::move(rows))});
  auto path = directory / (name + "-1.0-py3-none-any.whl");
  write_file(path, zip_archive(files));
  return path;
}

}  // namespace autopack
