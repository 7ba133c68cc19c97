#pragma once

#include <string>
#include <vector>

namespace autopack::cli {

/// Formats rows of equally many cells, in columns as wide as their widest cell.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace autopack::cli
