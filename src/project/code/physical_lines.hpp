#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A line as pip sees it, and its number for tools that only know line feeds.
struct PhysicalLine {
  std::string text{};
  int number{0};      ///< 1-based
  bool begins{true};  ///< it is the first one on this number
  bool ends{true};
};

/// Splits a text into lines like Python's str.splitlines, with all kinds of white space as blanks.
std::vector<PhysicalLine> physical_lines(std::string_view text);

}  // namespace autopack::project
