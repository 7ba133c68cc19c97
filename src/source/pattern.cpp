#include "source/pattern.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace autopack::source {

namespace {

bool is_unicode_space(char32_t c) {
  return (c >= U'\t' && c <= U'\r') || c == U' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

/// Returns the shortest equal path, as Go's filepath.Clean does.
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

/// Removes one character of a class; `[]`, `[-`, an open end and bytes that are not UTF-8 are
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

/// Throws if Go's filepath.Match refuses the pattern; docker calls it first.
void check_syntax(std::string_view rest) {
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '\\') {
      if (rest.empty()) {
        fail("it ends with a `\\`");
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

/// Docker compiles a pattern to a regular expression and leaves `sign` in it as it is.
Error regexp_sign(std::string_view sign) {
  return Error{
      ErrorKind::project,
      fmt::format("docker reads the `{}` in it as part of a regular expression", printable(sign))};
}

Error literal_sign(std::string_view sign) {
  return regexp_sign(sign).hint(
      fmt::format("write `\\{}` for the character itself", sign.substr(0, 1)));
}

/// Removes the character after a backslash, and returns it.
char32_t take_escaped(std::string_view& rest) {
  const std::string_view from = rest;
  const char32_t c = rest.empty() ? U'\0' : take_character(rest);
  if (from.empty()) {
    fail("it ends with a `\\`");
  }
  if (c >= 0x80 || is_alphanumeric(from.substr(0, 1))) {
    throw regexp_sign("\\" + std::string{from.substr(0, from.size() - rest.size())});
  }
  return c;
}

char32_t take_class_character(std::string_view& rest) {
  if (rest.empty()) {
    fail("a `[` is never closed");
  }
  if (rest.front() == '*' || rest.front() == '?') {
    throw literal_sign(rest.substr(0, 1));
  }
  const bool is_escaped = rest.front() == '\\';
  rest.remove_prefix(is_escaped ? 1 : 0);
  return is_escaped ? take_escaped(rest) : take_character(rest);
}

/// Removes a `[...]` whose `[` is removed already, and returns its set.
Glob::Set take_class(std::string_view& rest) {
  Glob::Set set;
  const bool is_inverted = rest.starts_with('^');
  rest.remove_prefix(is_inverted ? 1 : 0);
  for (bool first = true; first || !rest.starts_with(']'); first = false) {
    const auto name_end = rest.starts_with("[:") ? rest.find(":]", 2) : std::string_view::npos;
    if (name_end != std::string_view::npos) {
      const auto name = rest.substr(2, name_end - 2);
      if (!set.add_class(name)) {
        throw Error(ErrorKind::project,
                    fmt::format("`[:{}:]` is not a class of characters", printable(name)));
      }
      rest.remove_prefix(name_end + 2);
      continue;
    }
    const char32_t low = take_class_character(rest);
    char32_t high = low;
    if (rest.size() >= 2 && rest[0] == '-' && rest[1] != ']') {
      rest.remove_prefix(1);
      high = take_class_character(rest);
    }
    if (high < low) {
      fail("a range in `[...]` runs backwards");
    }
    set.add(low, high);
  }
  rest.remove_prefix(1);
  if (is_inverted) {
    set.invert();
  }
  return set;
}

/// Returns `{2}`, `{2,}` or `{2,3}` if `text` begins with one.
std::string_view repetition(std::string_view text) {
  static constexpr std::string_view digits = "0123456789";
  auto end = std::min(text.find_first_not_of(digits, 1), text.size());
  if (!text.starts_with('{') || end == 1) {
    return {};
  }
  if (text.substr(end).starts_with(',')) {
    end = std::min(text.find_first_not_of(digits, end + 1), text.size());
  }
  return text.substr(end).starts_with('}') ? text.substr(0, end + 1) : std::string_view{};
}

/// Returns the sign at the start of `text` that docker forgets to escape in its regular expression.
/// Docker's table of signs to escape lists `|`, `{` and `}`, but overflows there.
std::string_view unescaped_sign(std::string_view text) {
  return text.starts_with('|') || text.starts_with('^') ? text.substr(0, 1) : repetition(text);
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
  std::string_view sign;
  std::string_view rest = pattern;
  // Docker's scanner skips a byte order mark here.
  rest.remove_prefix(rest.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  for (bool first = true; !rest.empty(); first = false) {
    sign = sign.empty() ? unescaped_sign(rest) : sign;
    const char32_t c = take_character(rest);
    if (c == U'*' && rest.starts_with('*')) {
      rest.remove_prefix(1);
      rest.remove_prefix(rest.starts_with('/') ? 1 : 0);
      if (!rest.empty()) {
        glob_.add_directories();
        kind_ = Kind::glob;
      } else if (kind_ == Kind::exact) {
        kind_ = Kind::prefix;
      } else {
        glob_.add_rest();
        kind_ = Kind::glob;
      }
      kind_ = first ? Kind::suffix : kind_;
    } else if (c == U'*' || c == U'?') {
      c == U'*' ? glob_.add_any() : glob_.add_one();
      kind_ = Kind::glob;
    } else if (c == U'[') {
      glob_.add(take_class(rest));
      kind_ = Kind::glob;
    } else if (c == U'\\') {
      glob_.add(take_escaped(rest));
      kind_ = Kind::glob;
    } else {
      glob_.add(c);
      kind_ = c == U']' ? Kind::glob : kind_;
    }
  }
  if (kind_ == Kind::glob && !sign.empty()) {
    throw literal_sign(sign);
  }
  glob_.finish();
  text_ = pattern;
  if (kind_ == Kind::prefix) {
    text_.resize(text_.size() - 2);
  } else if (kind_ == Kind::suffix) {
    text_.erase(0, 2);
  }
}

bool Pattern::matches(std::string_view path) const {
  switch (kind_) {
    case Kind::exact: return path == text_;
    case Kind::prefix: return path.starts_with(text_);
    case Kind::suffix: return text_.empty() || ends_so(path);
    case Kind::glob: return glob_.matches(path);
  }
  return false;
}

bool Pattern::ends_so(std::string_view path) const {
  return path.ends_with(text_) ||
         (text_.starts_with('/') && path == std::string_view{text_}.substr(1));
}

std::optional<char> Pattern::last_byte() const {
  const std::string& end = kind_ == Kind::glob ? glob_.suffix() : text_;
  return kind_ == Kind::prefix || end.empty() ? std::nullopt : std::optional{end.back()};
}

bool Pattern::may_match_below(std::string_view directory) const {
  const std::string below = std::string{directory} + "/";
  switch (kind_) {
    case Kind::exact: return text_.starts_with(below);
    case Kind::prefix: return text_.starts_with(below) || below.starts_with(text_);
    case Kind::glob: return glob_.may_match_below(directory);
    case Kind::suffix: return true;
  }
  return true;
}

}  // namespace autopack::source
