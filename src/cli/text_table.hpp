#pragma once

#include <string>
#include <vector>

namespace autopack::cli {

/// Rows of as many cells each, in columns as wide as their widest cell.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace autopack::cli
