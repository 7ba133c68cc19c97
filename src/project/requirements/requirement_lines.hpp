#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

/// A line of a requirements file as pip sees it: continuation lines joined, without comments, split
/// into the requirement and its options.
struct RequirementLine {
  int first{0};  ///< 1-based, counting line feeds, as editors and sed do
  int last{0};
  bool is_alone{true};                       ///< these lines contain nothing else
  std::optional<std::string> requirement{};  ///< absent for a line with only options
  std::vector<std::pair<std::string, std::string>> options{};  ///< long name and value
  std::vector<std::string> unknown{};                          ///< unknown options, as written
  std::optional<std::string> problem{};                        ///< why the line is unreadable
};

/// The text of a requirements file as UTF-8 without a byte order mark, or why it is unreadable:
/// neither UTF-8 nor UTF-16 with a mark, nor another encoding declared by a coding line (PEP 263).
/// Characters of such an encoding beyond ASCII are read as Latin-1, or as private-use characters
/// that do not end a line.
struct DecodedText {
  std::string text{};
  int problem_line{0};  ///< of `problem`, 1-based
  std::optional<std::string> problem{};
};

DecodedText decode_requirements(std::string_view bytes);

/// Returns a hint with the known option that is similar to `name`; nothing if there is none.
std::optional<std::string> similar_option(const std::string& name);

/// Splits a decoded requirements file.
std::vector<RequirementLine> split_requirements(std::string_view text);

/// Splits `text` into words like a shell; returns nothing if a quote is not closed.
std::optional<std::vector<std::string>> split_words(std::string_view text);

}  // namespace autopack::project
