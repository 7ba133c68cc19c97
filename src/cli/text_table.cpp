#include "cli/text_table.hpp"

#include <algorithm>

namespace autopack::cli {

std::string text_table(const TableRows& rows, const Paint& paint, const CellStyle& style) {
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
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto& cells = rows[row];
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool is_last = i + 1 == cells.size();
      line += row > 0 && style ? style(row, i, cells[i]) : cells[i];
      line += is_last ? "" : std::string(widths[i] - cells[i].size() + 2, ' ');
    }
    text += (row == 0 ? paint.bold(line) : line) + "\n";
  }
  return text;
}

}  // namespace autopack::cli
