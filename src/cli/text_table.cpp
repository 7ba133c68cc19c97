#include "cli/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::cli {

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) {
    return {};
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& cells : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], cells[i].size());
    }
  }
  std::string text;
  for (const auto& cells : rows) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += i + 1 == cells.size() ? cells[i] : fmt::format("{:<{}}  ", cells[i], widths[i]);
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace autopack::cli
