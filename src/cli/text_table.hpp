#pragma once

#include "cli/error_text.hpp"

#include <functional>
#include <string>
#include <vector>

namespace autopack::cli {

using TableRows = std::vector<std::vector<std::string>>;

/// Returns the text of a cell in colour; `row` counts from the heading, 0.
using CellStyle =
    std::function<std::string(std::size_t row, std::size_t column, const std::string& text)>;

/// Returns rows of equally many cells, in columns as wide as their widest cell; the first row is a
/// heading. Empty without rows.
std::string text_table(const TableRows& rows, const Paint& paint, const CellStyle& style = {});

}  // namespace autopack::cli
