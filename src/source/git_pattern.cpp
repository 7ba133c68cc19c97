#include "source/git_pattern.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace autopack::source {

namespace {

constexpr std::string_view special{"*?[\\"};

/// Adds the small letters of the capitals from `first` to `last`.
void fold(Glob::Set& set, int first, int last) {
  for (int byte = std::max<int>(first, 'A'); byte <= std::min<int>(last, 'Z'); ++byte) {
    const auto small = static_cast<char32_t>(byte - 'A' + 'a');
    set.add(small, small);
  }
}

/// Git removes spaces at the end, unless a backslash keeps one.
std::string_view without_trailing_spaces(std::string_view line) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      ++i;
      end = i + 1;
    } else if (line[i] != ' ') {
      end = i + 1;
    }
  }
  return line.substr(0, end);
}

}  // namespace

std::string literal_pattern(std::string_view path) {
  std::string pattern{"/"};
  for (const char c : path) {
    pattern += c == ' ' || special.find(c) != std::string_view::npos ? "\\" : "";
    pattern += c;
  }
  return pattern;
}

std::optional<GitPattern> GitPattern::parse(std::string_view line, Letters letters) {
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  line = without_trailing_spaces(line);
  if (line.empty() || line.starts_with('#')) {
    return std::nullopt;
  }
  GitPattern pattern;
  if (line.starts_with('!')) {
    pattern.exception_ = true;
    line.remove_prefix(1);
  }
  if (line.ends_with('/')) {
    pattern.for_directories_ = true;
    line.remove_suffix(1);
  }
  pattern.anchored_ = line.find('/') != std::string_view::npos;
  if (line.starts_with('/')) {
    line.remove_prefix(1);
  }
  pattern.body_ = line;
  pattern.folds_ = letters == Letters::either_case;
  pattern.compile();
  return pattern;
}

void GitPattern::compile() {
  std::string_view rest = body_;
  const auto first_special = rest.find_first_of(special);
  const auto add = [&](char c) { glob_.add(static_cast<unsigned char>(c)); };
  for (bool after_slash = true; !rest.empty() && !impossible_;) {
    const char c = rest.front();
    // Git compares the part before the first special sign apart from the rest.
    after_slash = after_slash || (anchored_ && rest.size() == body_.size() - first_special);
    if (c == '[') {
      impossible_ = !add_set(rest);
      after_slash = false;
      continue;
    }
    rest.remove_prefix(1);
    if (c == '*') {
      const std::size_t stars = std::min(rest.find_first_not_of('*'), rest.size());
      rest.remove_prefix(stars);
      const bool is_whole = stars > 0 && after_slash;
      if (is_whole && rest.empty()) {
        glob_.add_rest();
      } else if (is_whole && rest.starts_with('/')) {
        glob_.add_directories();
        rest.remove_prefix(1);
        continue;  // the next sign follows a slash too
      } else {
        glob_.add_any();
      }
      after_slash = false;
    } else if (c == '?') {
      glob_.add_one();
      after_slash = false;
    } else if (c == '\\') {
      // As git: after a backslash or in a set a capital is never folded, so it matches nothing.
      impossible_ = rest.empty();
      const char literal = rest.empty() ? '\0' : rest.front();
      rest.remove_prefix(rest.empty() ? 0 : 1);
      add(literal);
      after_slash = literal == '/';
    } else {
      add(folds_ ? to_lower({&c, 1}).front() : c);
      after_slash = c == '/';
    }
  }
  glob_.finish();
}

/// Removes a `[...]`; returns false if it is never closed, so that nothing matches.
bool GitPattern::add_set(std::string_view& rest) {
  rest.remove_prefix(1);
  const bool is_inverted = rest.starts_with('!') || rest.starts_with('^');
  rest.remove_prefix(is_inverted ? 1 : 0);
  Glob::Set set;
  int previous = -1;
  for (bool first = true; first || !rest.starts_with(']'); first = false) {
    if (rest.empty()) {
      return false;
    }
    auto c = static_cast<unsigned char>(rest.front());
    if (rest.starts_with("[:")) {
      const auto end = rest.find(":]", 2);
      // As git: without its end it is a bracket like any other sign.
      if (end != std::string_view::npos && rest.find(']') == end + 1) {
        if (!set.add_class(rest.substr(2, end - 2))) {
          return false;
        }
        if (folds_ && rest.substr(2, end - 2) == "upper") {
          fold(set, 'A', 'Z');
        }
        rest.remove_prefix(end + 2);
        previous = -1;
        continue;
      }
    }
    if (c == '-' && previous >= 0 && rest.size() > 1 && rest[1] != ']') {
      rest.remove_prefix(1);
      if (rest.starts_with('\\')) {
        rest.remove_prefix(1);
      }
      if (rest.empty()) {
        return false;
      }
      const auto last = static_cast<unsigned char>(rest.front());
      set.add(static_cast<char32_t>(previous), last);
      if (folds_) {
        fold(set, previous, last);
      }
      previous = -1;
      rest.remove_prefix(1);
      continue;
    }
    if (c == '\\') {
      rest.remove_prefix(1);
      if (rest.empty()) {
        return false;
      }
      c = static_cast<unsigned char>(rest.front());
    }
    set.add(c, c);
    previous = c;
    rest.remove_prefix(1);
  }
  rest.remove_prefix(1);
  if (is_inverted) {
    set.invert();
  }
  set.remove('/');
  glob_.add(std::move(set));
  return true;
}

bool GitPattern::matches(std::string_view path, std::string_view name, bool is_directory) const {
  if (impossible_ || (for_directories_ && !is_directory)) {
    return false;
  }
  const std::string_view text = anchored_ ? path : name;
  return folds_ ? glob_.matches(to_lower(text)) : glob_.matches(text);
}

bool GitPattern::may_match_below(std::string_view directory) const {
  return !anchored_ ||
         (folds_ ? glob_.may_match_below(to_lower(directory)) : glob_.may_match_below(directory));
}

}  // namespace autopack::source
