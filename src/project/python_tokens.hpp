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
  int column{0};         ///< where that line begins: 0 unless it is indented
  int line{0};           ///< 1-based, on which it ends

  bool is(std::string_view sign) const { return kind == Kind::sign && text == sign; }

  bool is_name(std::string_view name) const { return kind == Kind::name && text == name; }
};

/// Reads Python source token by token; never fails: what is no Python becomes signs. Neighbouring
/// strings are one. Line ends inside brackets are left out.
class PythonTokens {
public:
  /// `text` must outlive this object.
  explicit PythonTokens(std::string_view text) : text_{text} {}

  /// Reads the next one into `token`, whose memory it uses again; false when there is none.
  bool next(Token& token);

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

/// All tokens of `text`.
std::vector<Token> tokenize_python(std::string_view text);

}  // namespace autopack::project
