#include "source/regexp.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace autopack::source {

namespace {

constexpr int repeat_limit = 1000;  // Go's

CharacterSet one(char32_t character) {
  return {.ranges = {{character, character}}};
}

/// `.`: all but a line feed.
CharacterSet anything() {
  return {.ranges = {{U'\n', U'\n'}}, .negated = true};
}

class Parser {
public:
  explicit Parser(std::string_view text) : rest_{text} {}

  Regexp parse() {
    alternatives_.emplace_back();
    while (!rest_.empty()) {
      parse_next();
    }
    return std::move(alternatives_);
  }

private:
  bool take(std::string_view prefix) {
    const bool there = rest_.starts_with(prefix);
    rest_.remove_prefix(there ? prefix.size() : 0);
    return there;
  }

  [[noreturn]] static void fail(const std::string& what) { throw Error(ErrorKind::project, what); }

  void add(RegexpItem item) {
    alternatives_.back().push_back(std::move(item));
    may_repeat_ = true;
  }

  void parse_next() {
    if (take("(.*/)?")) {
      add({.advance = one(U'/'), .stay = anything(), .skippable = true});
      may_repeat_ = false;
    } else if (take("|")) {
      alternatives_.emplace_back();
      may_repeat_ = false;
    } else if (take("^")) {
      add({.kind = RegexpItem::Kind::text_begin});
    } else if (take("$")) {
      add({.kind = RegexpItem::Kind::text_end});
    } else if (take(".")) {
      add({.advance = anything()});
    } else if (take("*")) {
      repeat(0, std::nullopt);
    } else if (const auto counts = take_counts()) {
      repeat(counts->first, counts->second);
    } else if (take("[")) {
      add({.advance = parse_class()});
    } else if (rest_.starts_with('\\')) {
      parse_escape();
    } else {
      add({.advance = one(take_character(rest_))});
    }
  }

  /// `{n}`, `{n,}`, `{n,m}`; anything else in braces is literal.
  std::optional<std::pair<int, std::optional<int>>> take_counts() {
    std::string_view text = rest_;
    const auto number = [&]() -> std::optional<int> {
      const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
      // Go takes no number with a leading zero, and any that is too large as too large.
      if (end == 0 || (end > 1 && text[0] == '0')) {
        return std::nullopt;
      }
      const int value = end > 4 ? repeat_limit + 1 : std::stoi(std::string{text.substr(0, end)});
      text.remove_prefix(end);
      return value;
    };
    const auto skip = [&](char c) {
      const bool there = text.starts_with(c);
      text.remove_prefix(there ? 1 : 0);
      return there;
    };
    if (!skip('{')) {
      return std::nullopt;
    }
    const auto low = number();
    if (!low) {
      return std::nullopt;
    }
    std::optional<int> high = low;
    if (skip(',')) {
      high = number();
      if (!high && !text.starts_with('}')) {
        return std::nullopt;
      }
    }
    if (!skip('}')) {
      return std::nullopt;
    }
    rest_ = text;
    return std::pair{*low, high};
  }

  void repeat(int low, std::optional<int> high) {
    auto& items = alternatives_.back();
    if (!may_repeat_ || items.empty()) {
      fail("a repetition follows nothing that can be repeated");
    }
    if (low > repeat_limit || high.value_or(low) > repeat_limit || high.value_or(low) < low) {
      fail("a repetition in braces is out of range");
    }
    const RegexpItem item = items.back();
    items.pop_back();
    items.insert(items.end(), static_cast<std::size_t>(low), item);
    RegexpItem optional = item;
    optional.skippable = true;
    if (high) {
      items.insert(items.end(), static_cast<std::size_t>(*high - low), optional);
    } else {
      optional.stay = optional.advance;
      items.push_back(optional);
    }
    may_repeat_ = false;
  }

  void parse_escape() {
    using Kind = RegexpItem::Kind;
    static const std::vector<std::pair<std::string_view, Kind>> assertions{
        {"\\A", Kind::text_begin},
        {"\\z", Kind::text_end},
        {"\\b", Kind::boundary},
        {"\\B", Kind::no_boundary},
    };
    for (const auto& [escape, kind] : assertions) {
      if (take(escape)) {
        add({.kind = kind});
        return;
      }
    }
    if (auto set = take_perl_class()) {
      add({.advance = std::move(*set)});
      return;
    }
    add({.advance = one(take_escaped())});
  }

  std::optional<CharacterSet> take_perl_class() {
    if (rest_.size() < 2 || rest_[0] != '\\') {
      return std::nullopt;
    }
    const char lower = to_lower(rest_.substr(1, 1))[0];
    auto set = perl_class(static_cast<char32_t>(lower));
    if (set) {
      set->negated = lower != rest_[1];
      rest_.remove_prefix(2);
    }
    return set;
  }

  /// The character that an escape stands for.
  char32_t take_escaped() {
    rest_.remove_prefix(1);
    if (rest_.empty()) {
      fail("a `\\` stands at the end");
    }
    const std::string_view from = rest_;
    const char32_t letter = take_character(rest_);
    const bool alphanumeric = perl_class(U'w')->contains(letter) && letter != U'_';
    if (letter < 0x80 && !alphanumeric) {
      return letter;
    }
    static constexpr std::string_view letters = "afnrtv";
    static constexpr std::string_view controls = "\a\f\n\r\t\v";
    if (const auto at = letters.find(from[0]); at != std::string_view::npos) {
      return static_cast<char32_t>(controls[at]);
    }
    if (const auto code = take_code(letter)) {
      return *code;
    }
    fail(fmt::format("`\\{}` is no escape", printable(from.substr(0, from.size() - rest_.size()))));
  }

  /// The rest of `\123`, `\x7F`, `\x{10FFFF}`.
  std::optional<char32_t> take_code(char32_t letter) {
    const auto take_digits = [&](std::size_t most, std::string_view digits) {
      const auto end = std::min({rest_.find_first_not_of(digits), rest_.size(), most});
      const auto text = rest_.substr(0, end);
      rest_.remove_prefix(end);
      return std::string{text};
    };
    static constexpr std::string_view octal = "01234567";
    static constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF";
    if (letter < 0x80 && octal.find(static_cast<char>(letter)) != std::string_view::npos) {
      const std::string more = take_digits(2, octal);
      if (letter != U'0' && more.empty()) {
        return std::nullopt;  // a reference to a group, which Go has not
      }
      return static_cast<char32_t>(
          std::stoul(std::string(1, static_cast<char>(letter)) + more, nullptr, 8));
    }
    if (letter != U'x') {
      return std::nullopt;
    }
    const bool braces = take("{");
    const std::string digits = take_digits(braces ? 8 : 2, hexadecimal);
    if ((braces && (digits.empty() || !take("}"))) || (!braces && digits.size() != 2)) {
      return std::nullopt;
    }
    const auto code = static_cast<char32_t>(std::stoul(digits, nullptr, 16));
    constexpr char32_t last_code_point = 0x10FFFF;
    return code <= last_code_point ? std::optional{code} : std::nullopt;
  }

  /// What follows `[`.
  CharacterSet parse_class() {
    CharacterSet set;
    set.negated = take("^");
    for (bool first = true; first || !rest_.starts_with(']'); first = false) {
      if (rest_.empty()) {
        fail("a `[` is never closed");
      }
      if (const auto named = take_named_class()) {
        const auto ranges = named->negated ? complement(*named).ranges : named->ranges;
        set.ranges.insert(set.ranges.end(), ranges.begin(), ranges.end());
        continue;
      }
      const char32_t low = take_class_character();
      char32_t high = low;
      if (rest_.size() >= 2 && rest_[0] == '-' && rest_[1] != ']') {
        rest_.remove_prefix(1);
        high = take_class_character();
      }
      if (high < low) {
        fail("a range in `[...]` runs backwards");
      }
      set.ranges.push_back({low, high});
    }
    rest_.remove_prefix(1);
    return set;
  }

  std::optional<CharacterSet> take_named_class() {
    const auto end = rest_.find(":]");
    if (rest_.size() > 2 && rest_.starts_with("[:") && end != std::string_view::npos && end >= 2) {
      const auto name = rest_.substr(2, end - 2);
      auto set = posix_class(name);
      if (!set) {
        fail(fmt::format("`[:{}:]` is no class of characters", printable(name)));
      }
      rest_.remove_prefix(end + 2);
      return set;
    }
    return take_perl_class();
  }

  char32_t take_class_character() {
    if (rest_.empty()) {
      fail("a `[` is never closed");
    }
    return rest_[0] == '\\' ? take_escaped() : take_character(rest_);
  }

  std::string_view rest_;
  Regexp alternatives_;
  bool may_repeat_{false};
};

}  // namespace

Regexp parse_regexp(std::string_view text) {
  return Parser{text}.parse();
}

}  // namespace autopack::source
