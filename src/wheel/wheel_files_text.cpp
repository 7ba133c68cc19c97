#include "wheel/grouping.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

namespace autopack::wheel {

namespace {

/// The last line. A truncated text lacks it.
constexpr std::string_view end_mark{"end\n"};

/// Removes a number and the character after it from the front of `line`; returns false if there is
/// no number.
bool take_number(std::string_view& line, std::uint64_t& number) {
  const char* const end = line.data() + line.size();
  const auto [rest, code] = std::from_chars(line.data(), end, number);
  if (code != std::errc{} || rest == end || *rest != ' ') {
    return false;
  }
  line.remove_prefix(static_cast<std::size_t>(rest - line.data()) + 1);
  return true;
}

}  // namespace

// One line for each file: a set of wheels has tens of thousands of files, and every run reads them.
std::optional<std::string> to_text(const std::vector<WheelFile>& files) {
  std::string text;
  for (const auto& file : files) {
    if (file.path.find('\n') != std::string::npos) {
      return std::nullopt;
    }
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", file.packed_size, file.content,
                   file.path);
  }
  return text.append(end_mark);
}

std::optional<std::vector<WheelFile>> parse_wheel_files(std::string_view text) {
  if (!text.ends_with(end_mark)) {
    return std::nullopt;
  }
  text.remove_suffix(end_mark.size());
  std::vector<WheelFile> files;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    if (line.size() == text.size()) {
      return std::nullopt;
    }
    text.remove_prefix(line.size() + 1);
    WheelFile file;
    if (!take_number(line, file.packed_size) || !take_number(line, file.content) || line.empty()) {
      return std::nullopt;
    }
    file.path = line;
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace autopack::wheel
