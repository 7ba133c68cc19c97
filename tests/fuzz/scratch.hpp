#pragma once

#include "support/temporary_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace autopack::fuzz {

/// A directory of this process, for parsers that want files.
inline const std::filesystem::path& scratch() {
  static const TemporaryDirectory directory;
  return directory.path();
}

/// Written in place: quicker than a new file, and nobody reads it meanwhile.
inline std::filesystem::path put(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  if (!file.is_open()) {
    std::filesystem::create_directories(path.parent_path());
    file.open(path, std::ios::binary | std::ios::trunc);
  }
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

/// Takes from `bytes` what stands before the next byte 0.
inline std::string_view next_part(std::string_view& bytes) {
  const auto end = std::min(bytes.find('\0'), bytes.size());
  const auto part = bytes.substr(0, end);
  bytes.remove_prefix(std::min(end + 1, bytes.size()));
  return part;
}

/// Takes the first byte of `bytes`; 0 when there is none.
inline unsigned next_byte(std::string_view& bytes) {
  const unsigned first = bytes.empty() ? 0U : static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(bytes.empty() ? 0 : 1);
  return first;
}

}  // namespace autopack::fuzz
