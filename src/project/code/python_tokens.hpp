#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A token of Python source, with the facts that we need.
struct Token {
  enum class Kind { name, string, number, sign, line_end };

  Kind kind{Kind::sign};
  std::string text{};    ///< a string's value; only escapes of quotes are decoded
  bool computed{false};  ///< an f-string
  bool indented{false};  ///< on an indented line
  int column{0};         ///< the column where that line begins: 0 unless it is indented
  int line{0};           ///< 1-based; its last line

  bool is(std::string_view sign) const { return kind == Kind::sign && text == sign; }

  bool is_name(std::string_view name) const { return kind == Kind::name && text == name; }
};

/// Reads Python source token by token; never fails: invalid text becomes signs. Joins adjacent
/// strings. Omits line ends inside brackets.
class PythonTokens {
public:
  /// `text` must outlive this object.
  explicit PythonTokens(std::string_view text) : text_{text} {}

  /// Reads the next one into `token`, reusing its memory; returns false if there is none.
  bool next(Token& token);

  /// True if a bracket that was opened before the last token read is not closed.
  bool is_in_bracket() const { return depth_ > 0; }

private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void pass_blanks();
  std::size_t string_prefix() const;
  bool begin(Token& token, Token::Kind kind);
  bool read_line_end(Token& token);
  bool read_word(Token& token, Token::Kind kind);
  bool read_sign(Token& token);
  bool read_strings(Token& token);
  void read_string(Token& token);

  std::string_view text_;
  std::size_t at_{0};
  int depth_{0};
  int line_{1};
  bool indented_{false};
  int column_{0};
  bool in_statement_{false};  ///< a token of it was read
};

/// Returns all tokens of `text`.
std::vector<Token> tokenize_python(std::string_view text);

using Tokens = std::span<const Token>;

/// Returns 1 for a bracket that opens, -1 for one that closes, and 0 for other tokens.
int depth_change(const Token& token);

/// Returns the tokens inside the bracket that opens at `open`.
Tokens bracketed(Tokens tokens, std::size_t open);

/// Returns true if `tokens` are one pair of brackets, which `open` opens, with their contents.
bool is_one_bracket(Tokens tokens, const char* open);

/// Splits `tokens` at commas outside of brackets; omits empty parts.
std::vector<Tokens> split_arguments(Tokens tokens);

}  // namespace autopack::project
