#include "project/code/physical_lines.hpp"

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

/// Returns the number of bytes at the front of `text` that form one of `characters`, non-ASCII
/// white space; 0 if none.
template <std::size_t count>
std::size_t leading(std::string_view text, const std::array<std::string_view, count>& characters) {
  if (text.front() >= ' ' && text.front() <= '~') {
    return 0;
  }
  const auto* const found = std::ranges::find_if(
      characters, [&](std::string_view character) { return text.starts_with(character); });
  return found == characters.end() ? 0 : found->size();
}

/// The line ends of Python's str.splitlines.
constexpr std::array<std::string_view, 11> line_ends{
    "\r\n", "\n",   "\r",       "\v",           "\f",          "\x1c",
    "\x1d", "\x1e", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};

/// Other white space of str.strip and of `\s`.
constexpr std::array<std::string_view, 17> wide_spaces{
    "\x1f",         "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81", "\xe2\x80\x82",
    "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86", "\xe2\x80\x87", "\xe2\x80\x88",
    "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};

std::string with_plain_spaces(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const std::size_t wide = leading(line, wide_spaces);
    text += wide > 0 ? ' ' : line.front();
    line.remove_prefix(std::max<std::size_t>(wide, 1));
  }
  return text;
}

}  // namespace

std::vector<PhysicalLine> physical_lines(std::string_view text) {
  std::vector<PhysicalLine> lines;
  int number = 1;
  bool begins = true;
  while (!text.empty()) {
    std::size_t size = 0;
    std::size_t end = 0;
    while (size < text.size() && (end = leading(text.substr(size), line_ends)) == 0) {
      ++size;
    }
    const auto sign = text.substr(size, end);
    const bool ends = sign.empty() || sign.ends_with('\n');
    lines.push_back({with_plain_spaces(text.substr(0, size)), number, begins, ends});
    text.remove_prefix(size + end);
    begins = ends;
    number += ends ? 1 : 0;
  }
  return lines;
}

}  // namespace autopack::project
