#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A token of Python source, as far as looking at it without running it needs.
struct Token {
  enum class Kind { name, string, number, sign, line_end };

  Kind kind{Kind::sign};
  std::string text{};    ///< of a string: its value; escapes other than of quotes stay as written
  bool computed{false};  ///< an f-string
  bool indented{false};  ///< stands on a line that is indented
  int line{0};           ///< 1-based, on which it ends

  bool is(std::string_view sign) const { return kind == Kind::sign && text == sign; }

  bool is_name(std::string_view name) const { return kind == Kind::name && text == name; }
};

/// Tokens of `text`; never fails: what is no Python becomes signs. Neighbouring strings are one.
/// Line ends inside brackets are left out.
std::vector<Token> tokenize_python(std::string_view text);

}  // namespace autopack::project
