#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack {

namespace {

struct Edit {
  char kind;  // ' ', '-', '+'
  std::string_view line;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto length = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

/// Longest common subsequence by dynamic programming: the compared files are short.
std::vector<Edit> edits_of(const std::vector<std::string_view>& a,
                           const std::vector<std::string_view>& b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::uint32_t> length((a.size() + 1) * width);
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      length[i * width + j] =
          a[i] == b[j] ? length[(i + 1) * width + j + 1] + 1
                       : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
    }
  }
  std::vector<Edit> edits;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      edits.push_back({' ', a[i++]});
      ++j;
    } else if (i < a.size() &&
               (j == b.size() || length[(i + 1) * width + j] >= length[i * width + j + 1])) {
      edits.push_back({'-', a[i++]});
    } else {
      edits.push_back({'+', b[j++]});
    }
  }
  return edits;
}

constexpr std::size_t context_lines = 3;

std::string hunk(const std::vector<Edit>& edits, std::size_t begin, std::size_t end) {
  const auto count = [&](std::size_t from, std::size_t to, char other) {
    return static_cast<std::size_t>(
        std::count_if(edits.begin() + static_cast<std::ptrdiff_t>(from),
                      edits.begin() + static_cast<std::ptrdiff_t>(to),
                      [&](const Edit& edit) { return edit.kind != other; }));
  };
  const std::size_t size_a = count(begin, end, '+');
  const std::size_t size_b = count(begin, end, '-');
  // An empty range names the line before it.
  const std::size_t start_a = count(0, begin, '+') + (size_a == 0 ? 0 : 1);
  const std::size_t start_b = count(0, begin, '-') + (size_b == 0 ? 0 : 1);
  std::string text = fmt::format("@@ -{},{} +{},{} @@\n", start_a, size_a, start_b, size_b);
  for (std::size_t i = begin; i < end; ++i) {
    text += edits[i].kind;
    text += edits[i].line;
    if (!edits[i].line.ends_with('\n')) {
      text += "\n\\ No newline at end of file\n";
    }
  }
  return text;
}

}  // namespace

std::string unified_diff(std::string_view a,
                         std::string_view b,
                         std::string_view name_a,
                         std::string_view name_b) {
  if (a == b) {
    return {};
  }
  const auto edits = edits_of(lines_of(a), lines_of(b));
  std::string text = fmt::format("--- {}\n+++ {}\n", name_a, name_b);
  std::size_t at = 0;
  while (at < edits.size()) {
    while (at < edits.size() && edits[at].kind == ' ') {
      ++at;
    }
    if (at == edits.size()) {
      break;
    }
    const std::size_t begin = at < context_lines ? 0 : at - context_lines;
    std::size_t last = at;
    for (std::size_t i = at; i < edits.size() && i <= last + 2 * context_lines; ++i) {
      if (edits[i].kind != ' ') {
        last = i;
      }
    }
    const std::size_t end = std::min(edits.size(), last + context_lines + 1);
    text += hunk(edits, begin, end);
    at = end;
  }
  return text;
}

}  // namespace autopack
