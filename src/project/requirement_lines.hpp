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
  int first{0};  ///< 1-based; lines that a line feed ends, as editors and sed count them
  int last{0};
  bool is_alone{true};                       ///< nothing else stands on these lines
  std::optional<std::string> requirement{};  ///< none for a line of options only
  std::vector<std::pair<std::string, std::string>> options{};  ///< long name and value
  std::vector<std::string> unknown{};    ///< options that autopack does not know, as written
  std::optional<std::string> problem{};  ///< what makes the line unreadable
};

/// The text of a requirements file as UTF-8 without a byte order mark, or why it cannot be read:
/// neither UTF-8 nor UTF-16 with a mark, nor declared as something else by a coding line (PEP 263).
/// What such an encoding has beyond ASCII is read as Latin-1, or as characters of private use that
/// end no line.
struct DecodedText {
  std::string text{};
  int problem_line{0};  ///< of `problem`, 1-based
  std::optional<std::string> problem{};
};

DecodedText decode_requirements(std::string_view bytes);

/// A hint that names the known option which is nearly `name`; none when there is none.
std::optional<std::string> similar_option(const std::string& name);

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
