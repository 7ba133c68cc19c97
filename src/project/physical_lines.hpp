#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A line as pip has it, and where it stands for tools that know only line feeds.
struct PhysicalLine {
  std::string text{};
  int number{0};      ///< 1-based
  bool begins{true};  ///< and not behind another on the same
  bool ends{true};
};

/// The lines of a text as Python's str.splitlines has them, white space of all kinds as blanks.
std::vector<PhysicalLine> physical_lines(std::string_view text);

}  // namespace autopack::project
