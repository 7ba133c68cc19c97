#include "project/code/setup_effects.hpp"

#include "base/contains.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

namespace autopack::project {

namespace {

/// Functions that only return something, or change a list, and those of setuptools.
constexpr std::array<std::string_view, 40> harmless_calls{
    "setup",    "find_packages", "open",    "read",       "readlines", "read_text", "close",
    "join",     "dirname",       "abspath", "realpath",   "normpath",  "resolve",   "exists",
    "isfile",   "Path",          "strip",   "rstrip",     "lstrip",    "format",    "str",
    "decode",   "replace",       "split",   "splitlines", "get",       "insert",    "append",
    "search",   "match",         "compile", "group",      "findall",   "lower",     "startswith",
    "endswith", "exec",          "print",   "getenv",     "len"};

/// Words with an effect that is not a call.
constexpr std::array<std::string_view, 5> effects{"raise", "assert", "del", "global", "await"};

/// The mode of an open() that writes.
bool is_mode_of_writing(const Token& token) {
  return token.kind == Token::Kind::string && !token.text.empty() && token.text.size() < 4 &&
         token.text.find_first_not_of("rwaxbt+") == std::string::npos &&
         token.text.find_first_of("wax+") != std::string::npos;
}

class SetupEffects {
public:
  explicit SetupEffects(Tokens tokens) : tokens_{tokens} {
    for (std::size_t i = 1; i < tokens_.size(); ++i) {
      if (tokens_[i - 1].is_name("def")) {
        functions_.insert(tokens_[i].text);
      }
      const bool begins = i == 1 || tokens_[i - 2].kind == Token::Kind::line_end;
      if (begins && tokens_[i].is("=") && tokens_[i - 1].kind == Token::Kind::name) {
        variables_.insert(tokens_[i - 1].text);
      }
    }
  }

  /// See only_setup_has_effect().
  bool run() const {
    int depth = 0;
    std::size_t line_start = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      while (i < tokens_.size() && i == line_start && tokens_[i].is_name("class") &&
             !tokens_[i].indented) {
        i = line_start = end_of_block(i);
      }
      if (i == tokens_.size()) {
        break;
      }
      depth += depth_change(tokens_[i]);
      if (tokens_[i].kind == Token::Kind::line_end) {
        line_start = i + 1;
      } else if (has_effect(i) ||
                 (depth == 0 && is_assignment(tokens_[i]) && !is_of_variable(i, line_start))) {
        return false;
      }
    }
    return std::ranges::none_of(std::array{"setup", "find_packages"}, [&](const auto* name) {
      return functions_.contains(name) || variables_.contains(name);
    });
  }

private:
  /// Returns the start of the next line that is not indented.
  std::size_t end_of_block(std::size_t i) const {
    while (i < tokens_.size() && tokens_[i].kind != Token::Kind::line_end) {
      ++i;
    }
    while (i < tokens_.size() &&
           (tokens_[i].kind == Token::Kind::line_end || tokens_[i].indented)) {
      ++i;
    }
    return i;
  }

  /// Returns true for a call of an unknown function, a file that is opened for writing, and the
  /// like.
  bool has_effect(std::size_t i) const {
    static constexpr std::array<std::string_view, 4> operators{"in", "and", "or", "not"};
    const auto& token = tokens_[i];
    if (token.kind != Token::Kind::name) {
      return token.is("@");
    }
    const bool is_call = i + 1 < tokens_.size() && tokens_[i + 1].is("(");
    if (is_call && token.text == "open") {
      return std::ranges::any_of(
          split_arguments(bracketed(tokens_, i + 1)),
          [](const auto& argument) { return is_mode_of_writing(argument.back()); });
    }
    return contains(effects, token.text) ||
           (is_call && !contains(harmless_calls, token.text) && !contains(operators, token.text) &&
            !functions_.contains(token.text));
  }

  static bool is_assignment(const Token& token) {
    return token.kind == Token::Kind::sign && token.text.ends_with('=') && !token.is("==") &&
           !token.is("!=") && !token.is("<=") && !token.is(">=");
  }

  /// Returns true for `NAME =`, and for `NAME +=` and `NAME[...] =` of a variable that has `NAME
  /// =`.
  bool is_of_variable(std::size_t sign, std::size_t line_start) const {
    if (sign == line_start || tokens_[line_start].kind != Token::Kind::name) {
      return false;
    }
    const bool is_whole = sign == line_start + 1;
    return (is_whole && tokens_[sign].is("=")) || (variables_.contains(tokens_[line_start].text) &&
                                                   (is_whole || tokens_[line_start + 1].is("[")));
  }

  Tokens tokens_;
  std::set<std::string> functions_{};  ///< defined in the file
  std::set<std::string> variables_{};  ///< assigned in it
};

}  // namespace

bool only_setup_has_effect(Tokens tokens) {
  return SetupEffects{tokens}.run();
}

}  // namespace autopack::project
