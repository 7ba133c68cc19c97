#include "project/python_tokens.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cctype>

namespace autopack::project {

namespace {

class Tokenizer {
public:
  explicit Tokenizer(std::string_view text) : text_{text} {}

  std::vector<Token> run() {
    tokens_.reserve(text_.size() / 5);  // about what code has
    while (at_ < text_.size()) {
      step();
    }
    end_line();
    return std::move(tokens_);
  }

private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void add(Token::Kind kind, std::string text) {
    const auto from = text_.begin() + static_cast<std::ptrdiff_t>(counted_);
    line_ +=
        static_cast<int>(std::count(from, text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
    counted_ = at_;
    tokens_.push_back(
        {.kind = kind, .text = std::move(text), .indented = indented_, .line = line_});
  }

  void end_line() {
    if (!tokens_.empty() && tokens_.back().kind != Token::Kind::line_end) {
      add(Token::Kind::line_end, "");
    }
  }

  static bool starts_name(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  }

  static bool continues_name(char c) {
    return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
  }

  void step() {
    const char c = peek();
    if (c == '\n') {
      ++at_;
      if (depth_ == 0) {
        end_line();
        indented_ = peek() == ' ' || peek() == '\t';
      }
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\n' ? 2U : 3U;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else if (c == '"' || c == '\'') {
      read_string("");
    } else if (starts_name(c)) {
      read_name();
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      const auto begin = at_;
      while (continues_name(peek()) || peek() == '.') {
        ++at_;
      }
      add(Token::Kind::number, std::string{text_.substr(begin, at_ - begin)});
    } else {
      read_sign();
    }
  }

  void read_name() {
    const auto begin = at_;
    while (continues_name(peek())) {
      ++at_;
    }
    std::string name{text_.substr(begin, at_ - begin)};
    const bool prefix =
        name.size() <= 2 && to_lower(name).find_first_not_of("rbuf") == std::string::npos;
    if (prefix && (peek() == '"' || peek() == '\'')) {
      read_string(to_lower(name));
    } else {
      add(Token::Kind::name, std::move(name));
    }
  }

  void read_string(const std::string& prefix) {
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    const std::string end(triple ? 3 : 1, quote);
    const bool raw = prefix.find('r') != std::string::npos;
    at_ += end.size();
    std::string value;
    while (at_ < text_.size() && text_.substr(at_, end.size()) != end) {
      if (peek() == '\n' && !triple) {
        break;
      }
      if (peek() == '\\' && at_ + 1 < text_.size()) {
        const char next = peek(1);
        if (raw || (next != '\\' && next != '\'' && next != '"' && next != '\n')) {
          value += '\\';
        }
        if (raw || next != '\n') {
          value += next;
        }
        at_ += 2;
        continue;
      }
      value += text_[at_++];
    }
    at_ = std::min(at_ + end.size(), text_.size());
    const bool computed = prefix.find('f') != std::string::npos;
    if (!tokens_.empty() && tokens_.back().kind == Token::Kind::string) {
      tokens_.back().text += value;
      tokens_.back().computed = tokens_.back().computed || computed;
      return;
    }
    add(Token::Kind::string, std::move(value));
    tokens_.back().computed = computed;
  }

  void read_sign() {
    const char c = text_[at_++];
    if (c == '(' || c == '[' || c == '{') {
      ++depth_;
    } else if ((c == ')' || c == ']' || c == '}') && depth_ > 0) {
      --depth_;
    }
    if (depth_ == 0 && c == ';') {
      end_line();
      return;
    }
    std::string sign(1, c);
    static constexpr std::string_view doubled = "=*/<>!+-";
    if (doubled.find(c) != std::string_view::npos &&
        (peek() == '=' || (c == '*' && peek() == '*'))) {
      sign += text_[at_++];
    }
    add(Token::Kind::sign, std::move(sign));
  }

  std::string_view text_;
  std::size_t at_{0};
  int depth_{0};
  bool indented_{false};
  std::size_t counted_{0};  ///< bytes whose line ends are in `line_`
  int line_{1};
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize_python(std::string_view text) {
  return Tokenizer{text}.run();
}

}  // namespace autopack::project
