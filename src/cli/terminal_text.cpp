#include "cli/terminal_text.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstddef>

namespace autopack::cli {

namespace {

constexpr char escape = '\x1b';
constexpr std::size_t longest_sequence = 32;
constexpr std::string_view passing_controls{"\n\r\t\b"};
/// Colours, erasing a line, one line up: the sequences of progress bars.
constexpr std::string_view passing_commands{"mKA"};

bool is_plain(char c) {
  return (c >= ' ' && c <= '~') || passing_controls.find(c) != std::string_view::npos;
}

/// Returns the length of the character that begins with `first`; 1 for invalid bytes.
std::size_t length_reported(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
}

/// Returns the length of the escape sequence or character at the start of `text`; 0 if it is
/// incomplete.
std::size_t next_length(std::string_view text) {
  if (text.front() != escape) {
    const auto length = length_reported(text.front());
    return length <= text.size() ? length : 0;
  }
  if (text.size() == 1) {
    return 0;
  }
  if (text[1] != '[') {
    return 1;
  }
  const auto end = text.find_first_not_of("0123456789;", 2);
  if (end == std::string_view::npos) {
    return text.size() < longest_sequence ? 0 : 1;
  }
  return passing_commands.find(text[end]) != std::string_view::npos ? end + 1 : 1;
}

}  // namespace

std::string TerminalText::take(std::string_view bytes) {
  waiting_ += bytes;
  std::string_view rest{waiting_};
  std::string shown;
  while (!rest.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(rest, is_plain) - rest.begin());
    shown += rest.substr(0, plain);
    rest.remove_prefix(plain);
    const auto length = rest.empty() ? 0 : next_length(rest);
    if (length == 0) {
      break;
    }
    const auto piece = rest.substr(0, length);
    shown += piece.size() > 1 && piece.front() == escape ? std::string{piece} : printable(piece);
    rest.remove_prefix(length);
  }
  waiting_ = std::string{rest};
  return shown;
}

}  // namespace autopack::cli
