#include "project/code/python_tokens.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace autopack::project {

namespace {

/// Character classes with fast lookup, because every byte of a program is tested.
enum Class : std::uint8_t { blank = 1, digit = 2, letter = 4, prefix = 8, doubled = 16 };

constexpr std::array<std::uint8_t, 256> classes = [] {
  std::array<std::uint8_t, 256> all{};
  const auto add = [&](std::string_view characters, Class one) {
    for (const char c : characters) {
      all[static_cast<unsigned char>(c)] |= one;
    }
  };
  add(" \t\v\f\r", blank);
  add("0123456789", digit);
  add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", letter);
  for (std::size_t c = 0x80; c < all.size(); ++c) {
    all[c] = letter;
  }
  add("rbufRBUF", prefix);
  add("=*/<>!+-", doubled);
  return all;
}();

bool is_any(char c, int wanted) {
  return (classes[static_cast<unsigned char>(c)] & wanted) != 0;
}

bool is_quote(char c) {
  return c == '"' || c == '\'';
}

}  // namespace

bool PythonTokens::next(Token& token) {
  pass_blanks();
  if (at_ == text_.size()) {
    return in_statement_ && read_line_end(token);
  }
  const char c = peek();
  if (c == '\n') {
    ++at_;
    ++line_;
    const bool was_in_statement = in_statement_ && read_line_end(token);
    column_ = static_cast<int>(std::min(text_.find_first_not_of(" \t", at_), text_.size()) - at_);
    indented_ = column_ > 0;
    return was_in_statement || next(token);
  }
  if (is_quote(c) || string_prefix() > 0) {
    return read_strings(token);
  }
  if (is_any(c, letter)) {
    return read_word(token, Token::Kind::name);
  }
  return is_any(c, digit) ? read_word(token, Token::Kind::number) : read_sign(token);
}

/// Skips the text between two tokens of a statement.
void PythonTokens::pass_blanks() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\n' ? 1U : 2U;
      ++line_;
    } else if (c == '\n' && depth_ > 0) {
      ++line_;
    } else if (!is_any(c, blank)) {
      return;
    }
  }
}

/// Returns the number of letters before a string's quote here; 0 also if there is no string.
std::size_t PythonTokens::string_prefix() const {
  if (!is_any(peek(), prefix)) {
    return 0;
  }
  if (is_quote(peek(1))) {
    return 1;
  }
  return is_any(peek(1), prefix) && is_quote(peek(2)) ? 2 : 0;
}

bool PythonTokens::begin(Token& token, Token::Kind kind) {
  token.kind = kind;
  token.text.clear();
  token.computed = false;
  token.indented = indented_;
  token.column = column_;
  token.line = line_;
  in_statement_ = kind != Token::Kind::line_end;
  return true;
}

bool PythonTokens::read_line_end(Token& token) {
  return begin(token, Token::Kind::line_end);
}

bool PythonTokens::read_word(Token& token, Token::Kind kind) {
  const auto start = at_;
  while (is_any(peek(), letter | digit) || (kind == Token::Kind::number && peek() == '.')) {
    ++at_;
  }
  begin(token, kind);
  token.text.assign(text_, start, at_ - start);
  return true;
}

bool PythonTokens::read_sign(Token& token) {
  const char c = text_[at_++];
  if (c == '(' || c == '[' || c == '{') {
    ++depth_;
  } else if ((c == ')' || c == ']' || c == '}') && depth_ > 0) {
    --depth_;
  }
  if (depth_ == 0 && c == ';') {
    return in_statement_ ? read_line_end(token) : next(token);
  }
  begin(token, Token::Kind::sign);
  token.text = c;
  if (is_any(c, doubled) && (peek() == '=' || (c == '*' && peek() == '*'))) {
    token.text += text_[at_++];
  }
  return true;
}

bool PythonTokens::read_strings(Token& token) {
  begin(token, Token::Kind::string);
  read_string(token);
  token.line = line_;
  for (;;) {
    pass_blanks();
    if (!is_quote(peek()) && string_prefix() == 0) {
      return true;
    }
    read_string(token);
  }
}

/// Appends the value of the string that begins here.
void PythonTokens::read_string(Token& token) {
  bool raw = false;
  for (; !is_quote(peek()); ++at_) {
    raw = raw || peek() == 'r' || peek() == 'R';
    token.computed = token.computed || peek() == 'f' || peek() == 'F';
  }
  const auto start = at_;
  const char quote = peek();
  const bool triple = peek(1) == quote && peek(2) == quote;
  const std::string_view end = text_.substr(at_, triple ? 3 : 1);
  at_ += end.size();
  while (at_ < text_.size()) {
    const auto plain = at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\\' &&
           (triple || text_[at_] != '\n')) {
      ++at_;
    }
    token.text.append(text_, plain, at_ - plain);
    if (at_ == text_.size() || peek() == '\n' || text_.substr(at_, end.size()) == end) {
      break;
    }
    if (peek() == '\\' && at_ + 1 < text_.size()) {
      const char next = peek(1);
      if (raw || (next != '\\' && next != '\'' && next != '"' && next != '\n')) {
        token.text += '\\';
      }
      if (raw || next != '\n') {
        token.text += next;
      }
      at_ += 2;
    } else {
      token.text += text_[at_++];
    }
  }
  at_ = std::min(at_ + end.size(), text_.size());
  line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(start),
                                       text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
}

std::vector<Token> tokenize_python(std::string_view text) {
  std::vector<Token> tokens;
  PythonTokens source{text};
  for (Token token; source.next(token);) {
    tokens.push_back(token);
  }
  return tokens;
}

int depth_change(const Token& token) {
  if (token.is("(") || token.is("[") || token.is("{")) {
    return 1;
  }
  return token.is(")") || token.is("]") || token.is("}") ? -1 : 0;
}

Tokens bracketed(Tokens tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    depth += depth_change(tokens[i]);
    if (depth == 0) {
      return tokens.subspan(open + 1, i - open - 1);
    }
  }
  return tokens.subspan(open + 1);
}

bool is_one_bracket(Tokens tokens, const char* open) {
  return tokens.size() > 1 && tokens[0].is(open) &&
         bracketed(tokens, 0).size() + 2 == tokens.size();
}

std::vector<Tokens> split_arguments(Tokens tokens) {
  std::vector<Tokens> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    if (i == tokens.size() || (depth == 0 && tokens[i].is(","))) {
      if (i > begin) {
        parts.push_back(tokens.subspan(begin, i - begin));
      }
      begin = i + 1;
    } else {
      depth += depth_change(tokens[i]);
    }
  }
  return parts;
}

}  // namespace autopack::project
