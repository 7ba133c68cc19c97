#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::project {

/// One line of a requirements file as pip sees it: continuation lines joined, comments gone, split
/// into the requirement and its options.
struct RequirementLine {
  int first{0};  ///< 1-based
  int last{0};
  std::string requirement{};                                   ///< empty for a line of options only
  std::vector<std::pair<std::string, std::string>> options{};  ///< long name and value
  std::string problem{};  ///< what makes the line unreadable; empty when it is fine
  std::string hint{};
};

/// The text of a requirements file as UTF-8 without a byte order mark, or why it cannot be read:
/// neither UTF-8, UTF-16 with a mark, nor declared as Latin-1 or ASCII by a coding line (PEP 263).
struct DecodedText {
  std::string text{};
  int problem_line{0};  ///< 1-based; 0 when all is well
  std::string problem{};
};

DecodedText decode_requirements(std::string_view bytes);

/// The lines of a text, whatever ends them.
std::vector<std::string_view> physical_lines(std::string_view text);

/// Splits a decoded requirements file.
std::vector<RequirementLine> split_requirements(std::string_view text);

/// The `${NAME}` variables that pip would replace, in order.
std::vector<std::string> variables_of(std::string_view text);

/// `text` as a shell splits it into words; none when a quote is not closed.
std::optional<std::vector<std::string>> split_words(std::string_view text);

/// True when the user information of a URL in `text` holds text other than `${NAME}` variables; a
/// user name alone counts, as tokens are often given so, but for `git@` and `ssh://`.
bool holds_credentials(std::string_view text);

}  // namespace autopack::project
