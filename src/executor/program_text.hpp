#pragma once

#include "image/source.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::executor {

/// Facts in the file of a program or library, read without running it.
struct ProgramText {
  /// The kernel's name: `x86_64`; absent if unknown.
  std::optional<std::string> machine{};
  std::optional<std::string> loader{};  ///< for a program: `/lib64/ld-linux-x86-64.so.2`
  std::optional<std::string> glibc{};   ///< for the C library: `2.36`
  std::vector<std::string> versions{};  ///< texts in it that look like a version: `3.11.2`

  bool operator==(const ProgramText&) const = default;
};

/// Reads an ELF file of at most 1 GiB; returns nothing if `content` is anything else, such as a
/// script.
std::optional<ProgramText> read_program(const image::Reader& content);

/// Convert to a short text and back; nothing if `text` is invalid.
std::string to_text(const ProgramText& program);
std::optional<ProgramText> program_from_text(std::string_view text);

}  // namespace autopack::executor
