#include "cli/emphasis.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace autopack::cli {

namespace {

bool is_heading(std::string_view line) {
  return !line.empty() && line.front() >= 'A' && line.front() <= 'Z';
}

/// Replaces each line, without its end.
std::string each_line(std::string_view text,
                      const std::function<std::string(std::string_view)>& replaced) {
  std::string result;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    result += replaced(line);
    result += end < text.size() ? "\n" : "";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace

std::string with_headings(std::string_view text, const Paint& paint) {
  bool is_after_gap = true;
  return each_line(text, [&](std::string_view line) {
    const bool is_first = std::exchange(is_after_gap, line.empty());
    return is_first && is_heading(line) ? paint.bold(line) : std::string{line};
  });
}

std::string with_changes(std::string_view text, const Paint& paint) {
  return each_line(text, [&](std::string_view line) {
    const auto mark = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (mark.starts_with("+++") || mark.starts_with("---")) {
      return paint.bold(line);
    }
    if (mark.starts_with('+')) {
      return paint.green(line);
    }
    if (mark.starts_with('-')) {
      return paint.red(line);
    }
    return is_heading(line) && line.find("  ") == std::string_view::npos ? paint.bold(line)
                                                                         : std::string{line};
  });
}

}  // namespace autopack::cli
