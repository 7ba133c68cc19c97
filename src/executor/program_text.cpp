#include "executor/program_text.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace autopack::executor {

namespace {

constexpr std::size_t piece_size{std::size_t{1} << 18U};
constexpr std::uint64_t most_read{std::uint64_t{1} << 30U};
/// The searched texts are shorter. So much of each piece is searched again with the next.
constexpr std::size_t longest_text{256};
constexpr std::size_t longest_version{24};
constexpr std::size_t most_versions{100};
constexpr std::string_view glibc_begin{"GNU C Library ("};
constexpr std::string_view glibc_version{"release version "};

/// ELF's numbers (`e_machine`) of supported architectures, with the kernel's names.
struct Machine {
  unsigned number;
  std::string_view name;
};

constexpr std::array machines{
    Machine{3, "i686"},      Machine{21, "ppc64le"},      Machine{22, "s390x"},
    Machine{40, "armv7l"},   Machine{62, "x86_64"},       Machine{183, "aarch64"},
    Machine{243, "riscv64"}, Machine{258, "loongarch64"},
};

/// The header of an ELF file: System V ABI, "ELF Header" and "Program Header".
class ElfHead {
public:
  explicit ElfHead(std::string_view bytes) : bytes_{bytes} {}

  bool is_elf() const {
    return bytes_.starts_with(
               "\x7f"
               "ELF") &&
           bytes_.size() >= 64;
  }

  std::optional<std::string> machine() const {
    const auto number = static_cast<unsigned>(at(18, 2));
    const auto found = std::ranges::find_if(
        machines, [&](const Machine& machine) { return machine.number == number; });
    return found == machines.end() ? std::nullopt : std::optional{std::string{found->name}};
  }

  /// Returns PT_INTERP; nothing if the available bytes have none.
  std::optional<std::string> loader() const {
    constexpr std::uint64_t interpreter = 3;
    const std::uint64_t table = is_64() ? at(32, 8) : at(28, 4);
    const std::uint64_t size = is_64() ? at(54, 2) : at(42, 2);
    const std::uint64_t count = is_64() ? at(56, 2) : at(44, 2);
    for (std::uint64_t i = 0; i < count && table < bytes_.size(); ++i) {
      const std::uint64_t header = table + i * size;
      if (at(header, 4) == interpreter) {
        const std::uint64_t begin = is_64() ? at(header + 8, 8) : at(header + 4, 4);
        const std::uint64_t length = is_64() ? at(header + 32, 8) : at(header + 16, 4);
        return begin < bytes_.size() && length <= longest_text
                   ? path_of(bytes_.substr(begin, length))
                   : std::nullopt;
      }
    }
    return std::nullopt;
  }

private:
  /// Reads up to a NUL; returns nothing if it is not a path.
  static std::optional<std::string> path_of(std::string_view text) {
    text = text.substr(0, text.find('\0'));
    return text.starts_with('/') && printable(text) == text ? std::optional{std::string{text}}
                                                            : std::nullopt;
  }

  bool is_64() const { return bytes_[4] == 2; }

  /// Returns a number of `size` bytes; 0 beyond the end.
  std::uint64_t at(std::uint64_t offset, std::size_t size) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) {
      return 0;
    }
    const bool is_little = bytes_[5] == 1;
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t place = is_little ? size - 1 - i : i;
      number = number << 8U | static_cast<unsigned char>(bytes_[offset + place]);
    }
    return number;
  }

  std::string_view bytes_;
};

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

/// Matches `3.11.2`, `3.13.0rc1`, `3.12.0+`.
bool looks_like_version(std::string_view text) {
  return text.size() >= 5 && text.size() <= longest_version && std::ranges::count(text, '.') == 2 &&
         is_alphanumeric(text, ".+") && is_digit(text.front());
}

/// Adds texts in `bytes` that look like a version, end with a NUL, and begin after a NUL or a
/// blank: a linker may merge a text with the end of another.
void find_versions(std::string_view bytes, std::vector<std::string>& versions) {
  for (auto dot = bytes.find('.'); dot != std::string_view::npos; dot = bytes.find('.', dot + 1)) {
    std::size_t begin = dot;
    while (begin > 0 && dot - begin < 3 && is_digit(bytes[begin - 1])) {
      --begin;
    }
    if (begin == dot || begin == 0 || (bytes[begin - 1] != '\0' && bytes[begin - 1] != ' ')) {
      continue;
    }
    const auto text = bytes.substr(begin, longest_version + 1);
    const auto end = text.find('\0');
    if (end != std::string_view::npos && looks_like_version(text.substr(0, end)) &&
        versions.size() < most_versions) {
      versions.emplace_back(text.substr(0, end));
    }
  }
}

/// Returns `2.36` for `GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.`
std::optional<std::string> find_glibc(std::string_view bytes) {
  for (auto begin = bytes.find(glibc_begin); begin != std::string_view::npos;
       begin = bytes.find(glibc_begin, begin + 1)) {
    const auto line = bytes.substr(begin, longest_text);
    const auto at = line.find(glibc_version);
    if (at != std::string_view::npos) {
      const auto rest = line.substr(at + glibc_version.size());
      const auto end = std::min(rest.find_first_not_of("0123456789."), rest.size());
      auto version = rest.substr(0, end);
      while (version.ends_with('.')) {
        version.remove_suffix(1);
      }
      return non_empty(std::string{version});
    }
  }
  return std::nullopt;
}

/// Returns `size` bytes, or fewer at the end.
std::string next_piece(const image::Reader& content, std::size_t size) {
  std::string piece(size, '\0');
  std::size_t count = 0;
  while (count < size) {
    const std::size_t more = content(piece.data() + count, size - count);
    if (more == 0) {
      break;
    }
    count += more;
  }
  piece.resize(count);
  return piece;
}

}  // namespace

std::optional<ProgramText> read_program(const image::Reader& content) {
  std::string bytes = next_piece(content, piece_size);
  const ElfHead head{bytes};
  if (!head.is_elf()) {
    return std::nullopt;
  }
  ProgramText program{.machine = head.machine(), .loader = head.loader()};
  for (std::uint64_t total = bytes.size(); !bytes.empty();) {
    find_versions(bytes, program.versions);
    if (!program.glibc) {
      program.glibc = find_glibc(bytes);
    }
    const std::string more = total < most_read ? next_piece(content, piece_size) : "";
    total += more.size();
    bytes = more.empty() ? ""
                         : bytes.substr(bytes.size() - std::min(bytes.size(), longest_text)) + more;
  }
  std::ranges::sort(program.versions);
  program.versions.erase(std::unique(program.versions.begin(), program.versions.end()),
                         program.versions.end());
  return program;
}

std::string to_text(const ProgramText& program) {
  return fmt::format("elf\n{}\n{}\n{}\n{}", program.machine.value_or(""),
                     program.loader.value_or(""), program.glibc.value_or(""),
                     join(program.versions, " "));
}

std::optional<ProgramText> program_from_text(std::string_view text) {
  const auto lines = split(text, '\n');
  if (lines.size() != 5 || lines[0] != "elf") {
    return std::nullopt;
  }
  ProgramText program{
      .machine = non_empty(lines[1]), .loader = non_empty(lines[2]), .glibc = non_empty(lines[3])};
  if (!lines[4].empty()) {
    program.versions = split(lines[4], ' ');
  }
  return program;
}

}  // namespace autopack::executor
