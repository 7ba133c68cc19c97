#pragma once

#include "gpu/library_code.hpp"
#include "support/wheel_archive.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace autopack {

/// An entry of a container of GPU code.
struct GpuEntry {
  unsigned kind{2};
  unsigned architecture{0};
  std::uint64_t flags{0x11};
  std::string payload{std::string(40, 'x')};
  std::size_t header{64};
};

inline std::string gpu_entry(const GpuEntry& entry) {
  std::string bytes =
      little_endian(entry.kind, 2) + little_endian(0x101, 2) + little_endian(entry.header, 4) +
      little_endian(entry.payload.size(), 8) + little_endian(0, 8) + little_endian(0x70001, 4) +
      little_endian(entry.architecture, 4) + little_endian(0, 8) + little_endian(entry.flags, 8);
  bytes.resize(entry.header, '\0');
  return bytes + entry.payload;
}

inline std::string gpu_container(const std::vector<GpuEntry>& entries) {
  std::string all;
  for (const auto& entry : entries) {
    all += gpu_entry(entry);
  }
  return little_endian(0xBA55ED50, 4) + little_endian(1, 2) + little_endian(16, 2) +
         little_endian(all.size(), 8) + all;
}

/// A shared library of a test, as far as readers of GPU code look at it.
struct GpuLibrary {
  std::vector<std::string> needed{};
  std::string own_name{};
  std::vector<std::string> containers{};
  std::string padding{std::string(8, '\0')};  ///< between containers; a multiple of eight bytes
  bool has_names_last{false};                 ///< the names of libraries follow the code
};

/// Returns an ELF file with one segment for everything and a dynamic section.
inline std::string gpu_library(const GpuLibrary& library) {
  constexpr std::size_t headers{64 + 2 * 56};
  std::string names(1, '\0');
  std::string rows;
  const auto add = [&](std::uint64_t tag, const std::string& name) {
    rows += little_endian(tag, 8) + little_endian(names.size(), 8);
    names += name + '\0';
  };
  for (const auto& name : library.needed) {
    add(1, name);
  }
  if (!library.own_name.empty()) {
    add(14, library.own_name);
  }
  names.resize((names.size() + 7) / 8 * 8, '\0');
  std::string code;
  for (const auto& container : library.containers) {
    code += container;
    code.resize((code.size() + 7) / 8 * 8, '\0');
    code += library.padding;
  }
  constexpr std::uint64_t base{0x400000};
  const auto first = library.has_names_last ? code.size() : names.size();
  const auto dynamic_at = headers + first;
  const auto dynamic_size = rows.size() + 32;
  const auto last_at = dynamic_at + dynamic_size;
  rows +=
      little_endian(5, 8) + little_endian(base + (library.has_names_last ? last_at : headers), 8);
  rows += little_endian(0, 16);
  const auto total = headers + code.size() + names.size() + dynamic_size;
  const auto segment = [](std::uint64_t type, std::uint64_t offset, std::uint64_t size) {
    return little_endian(type, 4) + little_endian(4, 4) + little_endian(offset, 8) +
           little_endian(base + offset, 8) + little_endian(base + offset, 8) +
           little_endian(size, 8) + little_endian(size, 8) + little_endian(8, 8);
  };
  std::string bytes{
      "\x7f"
      "ELF\x02\x01\x01",
      7};
  bytes.resize(16, '\0');
  bytes += little_endian(3, 2) + little_endian(62, 2) + little_endian(1, 4) + little_endian(0, 8) +
           little_endian(64, 8) + little_endian(0, 8) + little_endian(0, 4) + little_endian(64, 2) +
           little_endian(56, 2) + little_endian(2, 2) + little_endian(64, 2) + little_endian(0, 4);
  bytes += segment(1, 0, total) + segment(2, dynamic_at, dynamic_size);
  return library.has_names_last ? bytes + code + rows + names : bytes + names + rows + code;
}

}  // namespace autopack
