#pragma once

#include "image/layer_tree.hpp"
#include "image/tar.hpp"

#include <map>
#include <string>
#include <string_view>

namespace autopack::testing {

/// The files of an image by their paths without a leading slash. A text that begins with `-> ` is a
/// link, a path that ends with a slash a directory.
using ImageContent = std::map<std::string, std::string>;

inline std::string tar_of(const ImageContent& files) {
  std::string bytes;
  image::TarWriter tar{[&](std::string_view piece) { bytes += piece; }};
  for (const auto& [path, text] : files) {
    if (path.ends_with('/')) {
      tar.add_directory(path);
    } else if (text.starts_with("-> ")) {
      tar.add_symlink(path, text.substr(3));
    } else {
      const bool is_program = path.find("bin/") != std::string::npos || path.starts_with("python");
      tar.add_file(path, is_program ? 0755 : 0644, text);
    }
  }
  tar.finish();
  return bytes;
}

inline image::Reader reader_of(std::string bytes) {
  return [bytes = std::move(bytes), at = std::size_t{0}](char* buffer, std::size_t size) mutable {
    const std::size_t count = bytes.copy(buffer, size, at);
    at += count;
    return count;
  };
}

/// Returns a program file: for x86_64 unless another of ELF's numbers is given, with `loader`
/// unless that is empty, and with `texts` in it.
inline std::string program_of(const std::string& loader,
                              const std::string& texts,
                              char machine = 62) {
  std::string elf(64, '\0');
  elf.replace(0, 6,
              std::string{"\x7f"
                          "ELF\x02\x01",
                          6});
  elf[18] = machine;
  elf[32] = 64;  // the program headers begin here,
  elf[54] = 56;  // each has this size,
  elf[56] = loader.empty() ? 0 : 1;
  std::string header(56, '\0');
  header[0] = 3;  // PT_INTERP
  header[8] = 120;
  header[32] = static_cast<char>(loader.size() + 1);
  return elf + header + loader + std::string(1, '\0') + texts + std::string(1, '\0');
}

}  // namespace autopack::testing
