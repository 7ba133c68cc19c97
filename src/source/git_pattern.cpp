#include "source/git_pattern.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace autopack::source {

namespace {

constexpr std::string_view special{"*?[\\"};

bool is_byte_of_class(std::string_view name, unsigned char c, bool& known) {
  using Test = int (*)(int);
  static const std::array<std::pair<std::string_view, Test>, 12> classes{{
      {"alnum", [](int b) { return std::isalnum(b); }},
      {"alpha", [](int b) { return std::isalpha(b); }},
      {"blank", [](int b) { return std::isblank(b); }},
      {"cntrl", [](int b) { return std::iscntrl(b); }},
      {"digit", [](int b) { return std::isdigit(b); }},
      {"graph", [](int b) { return std::isgraph(b); }},
      {"lower", [](int b) { return std::islower(b); }},
      {"print", [](int b) { return std::isprint(b); }},
      {"punct", [](int b) { return std::ispunct(b); }},
      {"space", [](int b) { return std::isspace(b); }},
      {"upper", [](int b) { return std::isupper(b); }},
      {"xdigit", [](int b) { return std::isxdigit(b); }},
  }};
  const auto* const found = std::find_if(classes.begin(), classes.end(),
                                         [&](const auto& one) { return one.first == name; });
  known = found != classes.end();
  return known && c < 0x80 && found->second(c) != 0;
}

/// Has the capitals from `first` to `last` stand for their small letters too.
void fold(std::bitset<256>& set, int first, int last) {
  for (int byte = std::max<int>(first, 'A'); byte <= std::min<int>(last, 'Z'); ++byte) {
    set.set(static_cast<unsigned char>(byte - 'A' + 'a'));
  }
}

/// Git takes spaces off the end, unless a backslash keeps one.
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

/// False where the plain bytes that end the pattern do not end `text`. Most paths go no further.
template <class Steps, class IsByte>
bool ends_as(std::string_view text, const Steps& steps, IsByte is_byte) {
  std::size_t at = text.size();
  for (auto step = steps.rbegin(); step != steps.rend() && is_byte(*step); ++step) {
    if (at == 0 || text[--at] != step->byte) {
      return false;
    }
  }
  return true;
}

/// False where the first plain bytes of the pattern stand nowhere in `text`.
template <class Steps, class IsByte>
bool holds_first_run(std::string_view text, const Steps& steps, IsByte is_byte) {
  std::array<char, 64> run{};
  const auto begin = std::find_if(steps.begin(), steps.end(), is_byte);
  std::size_t size = 0;
  for (auto step = begin; step != steps.end() && is_byte(*step) && size < run.size(); ++step) {
    run[size++] = step->byte;
  }
  return text.find(std::string_view{run.data(), size}) != std::string_view::npos;
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
  text_ = folds_ ? to_lower(rest.substr(0, first_special)) : rest.substr(0, first_special);
  if (first_special == std::string_view::npos) {
    return;
  }
  if (!anchored_ && first_special == 0 && rest[0] == '*' &&
      rest.find_first_of(special, 1) == std::string_view::npos) {
    kind_ = Kind::suffix;
    text_ = folds_ ? to_lower(rest.substr(1)) : rest.substr(1);
    return;
  }
  kind_ = Kind::steps;
  for (bool after_slash = true; !rest.empty() && !impossible_;) {
    const char c = rest.front();
    // Git compares what stands before the first special sign apart from the rest.
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
        steps_.push_back({.kind = Step::Kind::rest});
      } else if (is_whole && rest.starts_with('/')) {
        steps_.push_back({.kind = Step::Kind::directories});
        rest.remove_prefix(1);
        continue;  // what follows stands after a slash too
      } else {
        steps_.push_back({.kind = Step::Kind::any});
      }
      after_slash = false;
    } else if (c == '?') {
      steps_.push_back({.kind = Step::Kind::one});
      after_slash = false;
    } else if (c == '\\') {
      // As git: behind a backslash or in a set a capital is never folded, so that it meets none.
      impossible_ = rest.empty();
      steps_.push_back({.byte = rest.empty() ? '\0' : rest.front()});
      rest.remove_prefix(rest.empty() ? 0 : 1);
      after_slash = steps_.back().byte == '/';
    } else {
      steps_.push_back({.byte = folds_ ? to_lower({&c, 1}).front() : c});
      after_slash = c == '/';
    }
  }
}

/// Takes `[...]` off; false when it is never closed, so that nothing matches.
bool GitPattern::add_set(std::string_view& rest) {
  rest.remove_prefix(1);
  const bool is_inverted = rest.starts_with('!') || rest.starts_with('^');
  rest.remove_prefix(is_inverted ? 1 : 0);
  std::bitset<256> set;
  int previous = -1;
  for (bool first = true; first || !rest.starts_with(']'); first = false) {
    if (rest.empty()) {
      return false;
    }
    auto c = static_cast<unsigned char>(rest.front());
    if (rest.starts_with("[:")) {
      const auto end = rest.find(":]", 2);
      // As git: what is not closed is a bracket like any other sign.
      if (end != std::string_view::npos && rest.find(']') == end + 1) {
        bool known = false;
        for (std::size_t byte = 0; byte < 256; ++byte) {
          set[byte] = set[byte] || is_byte_of_class(rest.substr(2, end - 2),
                                                    static_cast<unsigned char>(byte), known);
        }
        if (folds_ && rest.substr(2, end - 2) == "upper") {
          fold(set, 'A', 'Z');
        }
        if (!known) {
          return false;
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
      for (auto byte = static_cast<std::size_t>(previous); byte <= last; ++byte) {
        set.set(byte);
      }
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
    set.set(c);
    previous = c;
    rest.remove_prefix(1);
  }
  rest.remove_prefix(1);
  set = is_inverted ? ~set : set;
  set.reset('/');
  steps_.push_back({.kind = Step::Kind::set, .set = static_cast<std::uint16_t>(sets_.size())});
  sets_.push_back(set);
  return true;
}

bool GitPattern::matches(std::string_view path, std::string_view name, bool is_directory) const {
  if (impossible_ || (for_directories_ && !is_directory)) {
    return false;
  }
  const std::string_view text = anchored_ ? path : name;
  return folds_ ? is_match(to_lower(text)) : is_match(text);
}

bool GitPattern::is_match(std::string_view text) const {
  switch (kind_) {
    case Kind::exact: return text == text_;
    case Kind::suffix: return text.ends_with(text_);
    case Kind::steps: return text.starts_with(text_) && runs_through(text);
  }
  return false;
}

/// All places in the pattern that can have been reached are followed at once, so that the time is
/// bounded by the product of both lengths.
bool GitPattern::runs_through(std::string_view text) const {
  const auto is_byte = [](const Step& step) { return step.kind == Step::Kind::byte; };
  if (!ends_as(text, steps_, is_byte) || !holds_first_run(text, steps_, is_byte)) {
    return false;
  }
  constexpr char here{1};
  constexpr char inside{2};  // of a name that `directories` takes
  std::vector<char> states(steps_.size() + 1);
  std::vector<char> next(steps_.size() + 1);
  const auto reach = [&](std::vector<char>& all, std::size_t i) {
    for (; i <= steps_.size(); ++i) {
      all[i] |= here;
      const bool may_be_nothing = i < steps_.size() && (steps_[i].kind == Step::Kind::any ||
                                                        steps_[i].kind == Step::Kind::directories);
      if (!may_be_nothing) {
        return;
      }
    }
  };
  reach(states, 0);
  for (const char c : text) {
    std::fill(next.begin(), next.end(), '\0');
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (states[i] == 0) {
        continue;
      }
      const Step& step = steps_[i];
      switch (step.kind) {
        case Step::Kind::byte:
          if (c == step.byte) {
            reach(next, i + 1);
          }
          break;
        case Step::Kind::one:
          if (c != '/') {
            reach(next, i + 1);
          }
          break;
        case Step::Kind::set:
          if (sets_[step.set].test(static_cast<unsigned char>(c))) {
            reach(next, i + 1);
          }
          break;
        case Step::Kind::any:
          if (c != '/') {
            reach(next, i);
          }
          break;
        case Step::Kind::directories:
          next[i] |= inside;
          if (c == '/') {
            reach(next, i + 1);
          }
          break;
        case Step::Kind::rest: return true;
      }
    }
    states.swap(next);
  }
  return (states[steps_.size()] & here) != 0;
}

bool GitPattern::may_match_below(std::string_view directory) const {
  if (!anchored_) {
    return true;
  }
  const std::string below = (folds_ ? to_lower(directory) : std::string{directory}) + "/";
  return text_.starts_with(below) || (kind_ == Kind::steps && below.starts_with(text_));
}

}  // namespace autopack::source
