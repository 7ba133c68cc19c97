#include "source/pattern.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "source/regexp.hpp"

#include <utility>
#include <vector>

namespace autopack::source {

namespace {

bool is_unicode_space(char32_t c) {
  return (c >= U'\t' && c <= U'\r') || c == U' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

/// The shortest equal path, as Go's filepath.Clean makes it.
std::string clean(std::string_view path) {
  const bool rooted = path.starts_with('/');
  std::vector<std::string> names;
  for (auto& name : split(path, '/')) {
    if (name.empty() || name == ".") {
      continue;
    }
    const bool is_up = name == "..";
    if (is_up && !names.empty() && names.back() != "..") {
      names.pop_back();
    } else if (!is_up || !rooted) {
      names.push_back(std::move(name));
    }
  }
  const std::string result = (rooted ? "/" : "") + join(names, "/");
  return result.empty() ? "." : result;
}

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorKind::project, what);
}

/// Takes one character of a class off; `[]`, `[-`, an open end and bytes that are not UTF-8 are
/// malformed.
void skip_class_character(std::string_view& rest) {
  if (rest.starts_with('-') || rest.starts_with(']')) {
    fail("a range in `[...]` lacks an end");
  }
  if (rest.starts_with('\\')) {
    rest.remove_prefix(1);
  }
  if (rest.empty()) {
    fail("a `[` is never closed");
  }
  const std::size_t length = utf8_length(rest);
  if (length == 0) {
    fail("a class of characters is not valid UTF-8");
  }
  rest.remove_prefix(length);
  if (rest.empty()) {
    fail("a `[` is never closed");
  }
}

/// What Go's filepath.Match calls a malformed pattern; docker asks it first.
void check_syntax(std::string_view rest) {
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '\\') {
      if (rest.empty()) {
        fail("a `\\` stands at the end");
      }
      rest.remove_prefix(1);
    } else if (c == '[') {
      if (rest.starts_with('^')) {
        rest.remove_prefix(1);
      }
      for (bool first = true; first || !rest.starts_with(']'); first = false) {
        if (rest.empty()) {
          fail("a `[` is never closed");
        }
        skip_class_character(rest);
        if (rest.starts_with('-')) {
          rest.remove_prefix(1);
          skip_class_character(rest);
        }
      }
      rest.remove_prefix(1);
    }
  }
}

/// Of a pattern that ends with a plain character, and has nothing in it that may mean an "or".
std::optional<char> last_byte_of(std::string_view pattern) {
  const bool is_plain = !pattern.empty() && static_cast<unsigned char>(pattern.back()) < 0x80 &&
                        pattern.back() != '*' && pattern.back() != '?' &&
                        pattern.find_first_of("\\[]{}|^") == std::string_view::npos;
  return is_plain ? std::optional{pattern.back()} : std::nullopt;
}

}  // namespace

std::string_view trim_unicode(std::string_view line) {
  for (std::string_view rest = line; !rest.empty() && is_unicode_space(take_character(rest));) {
    line = rest;
  }
  std::size_t end = 0;
  for (std::string_view rest = line; !rest.empty();) {
    if (!is_unicode_space(take_character(rest))) {
      end = line.size() - rest.size();
    }
  }
  return line.substr(0, end);
}

std::optional<Pattern> Pattern::parse(std::string_view line) {
  if (line.starts_with('#')) {
    return std::nullopt;
  }
  line = trim_unicode(line);
  if (line.empty()) {
    return std::nullopt;
  }
  const bool inverted = line.starts_with('!');
  line = inverted ? trim_unicode(line.substr(1)) : line;
  std::string text = line.empty() ? std::string{} : clean(line);
  if (text.size() > 1 && text.starts_with('/')) {
    text.erase(0, 1);
  }
  // Docker cleans a second time with the `!` in place, which shows for `!/` and `!../..`.
  text = clean(trim_unicode((inverted ? "!" : "") + text));
  if (text == "!") {
    fail("nothing follows the `!`");
  }
  Pattern pattern;
  pattern.exception_ = text.starts_with('!');
  const auto body = std::string_view{text}.substr(pattern.exception_ ? 1 : 0);
  check_syntax(body);
  pattern.compile(body);
  return pattern;
}

void Pattern::compile(std::string_view pattern) {
  std::string regexp = "^";
  std::string_view rest = pattern;
  // Docker's scanner takes a byte order mark for its own here.
  rest.remove_prefix(rest.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  for (bool first = true; !rest.empty(); first = false) {
    const char32_t c = take_character(rest);
    if (c == U'*' && rest.starts_with('*')) {
      rest.remove_prefix(1);
      rest.remove_prefix(rest.starts_with('/') ? 1 : 0);
      if (!rest.empty()) {
        regexp += "(.*/)?";
        kind_ = Kind::regexp;
      } else if (kind_ == Kind::exact) {
        kind_ = Kind::prefix;
      } else {
        regexp += ".*";
        kind_ = Kind::regexp;
      }
      kind_ = first ? Kind::suffix : kind_;
    } else if (c == U'*' || c == U'?') {
      regexp += c == U'*' ? "[^/]*" : "[^/]";
      kind_ = Kind::regexp;
    } else if (c < 0x80 &&
               std::string_view{".+()$"}.find(static_cast<char>(c)) != std::string_view::npos) {
      // Docker's table of what to escape means to hold `|`, `{` and `}` too, but does not.
      regexp += '\\';
      regexp += static_cast<char>(c);
    } else if (c == U'\\') {
      regexp += '\\';
      regexp += utf8_encode(take_character(rest));
      kind_ = Kind::regexp;
    } else {
      regexp += utf8_encode(c);
      kind_ = c == U'[' || c == U']' ? Kind::regexp : kind_;
    }
  }
  text_ = pattern;
  last_byte_ = last_byte_of(pattern);
  if (kind_ == Kind::prefix) {
    text_.resize(text_.size() - 2);
  } else if (kind_ == Kind::suffix) {
    text_.erase(0, 2);
  } else if (kind_ == Kind::regexp) {
    automaton_.emplace(regexp + "$");
    text_ = automaton_->prefix();
  }
}

bool Pattern::matches(std::string_view path) const {
  switch (kind_) {
    case Kind::exact: return path == text_;
    case Kind::prefix: return path.starts_with(text_);
    case Kind::suffix: return text_.empty() || ends_so(path);
    case Kind::regexp: return automaton_->matches(path);
  }
  return false;
}

bool Pattern::ends_so(std::string_view path) const {
  return path.ends_with(text_) ||
         (text_.starts_with('/') && path == std::string_view{text_}.substr(1));
}

bool Pattern::may_match_below(std::string_view directory) const {
  const std::string below = std::string{directory} + "/";
  switch (kind_) {
    case Kind::exact: return text_.starts_with(below);
    case Kind::prefix:
    case Kind::regexp: return text_.starts_with(below) || below.starts_with(text_);
    case Kind::suffix: return true;
  }
  return true;
}

}  // namespace autopack::source
