#pragma once

#include "image/source.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::executor {

/// What the file of a program or of a library tells without being run.
struct ProgramText {
  /// As the kernel says it: `x86_64`; none for one that is not known.
  std::optional<std::string> machine{};
  std::optional<std::string> loader{};  ///< of a program: `/lib64/ld-linux-x86-64.so.2`
  std::optional<std::string> glibc{};   ///< of the C library: `2.36`
  std::vector<std::string> versions{};  ///< texts in it that look like a version: `3.11.2`

  bool operator==(const ProgramText&) const = default;
};

/// Reads an ELF file of at most 1 GiB; none when `content` is something else, a script say.
std::optional<ProgramText> read_program(const image::Reader& content);

/// One text of few bytes, and back; none when `text` is no such text.
std::string to_text(const ProgramText& program);
std::optional<ProgramText> program_from_text(std::string_view text);

}  // namespace autopack::executor
