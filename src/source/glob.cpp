#include "source/glob.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace autopack::source {

namespace {

constexpr char32_t replacement = 0xFFFD;
constexpr std::size_t first_high = 256;

std::string encode_utf8(char32_t character) {
  if (character < 0x80) {
    return {static_cast<char>(character)};
  }
  const unsigned length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  std::string bytes(length, '\0');
  for (unsigned i = length - 1; i > 0; --i) {
    bytes[i] = static_cast<char>(0x80U | (character & 0x3FU));
    character >>= 6U;
  }
  bytes[0] = static_cast<char>((0xF0U << (4 - length)) | character);
  return bytes;
}

}  // namespace

char32_t take_character(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const char32_t first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : utf8_length(text);
  if (length <= 1) {
    text.remove_prefix(1);
    return length == 1 ? first : replacement;
  }
  char32_t result = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    result = result << 6U | (byte(i) & 0x3FU);
  }
  text.remove_prefix(length);
  return result;
}

void Glob::Set::add(char32_t first, char32_t last) {
  for (char32_t c = first; c <= last && c < first_high; ++c) {
    low_.set(c);
  }
  if (last >= first_high) {
    ranges_.emplace_back(first, last);
  }
}

bool Glob::Set::add_class(std::string_view name) {
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
  const auto* const found =
      std::ranges::find_if(classes, [&](const auto& one) { return one.first == name; });
  for (int c = 0; found != classes.end() && c < 0x80; ++c) {
    low_[static_cast<std::size_t>(c)] = low_[static_cast<std::size_t>(c)] || found->second(c) != 0;
  }
  return found != classes.end();
}

void Glob::Set::invert() {
  low_.flip();
  inverted_ = !inverted_;
}

void Glob::Set::remove(char32_t low) {
  low_.reset(low);
}

bool Glob::Set::contains(char32_t c) const {
  return c < first_high ? low_.test(c)
                        : inverted_ != std::ranges::any_of(ranges_, [&](const auto& range) {
                            return range.first <= c && c <= range.second;
                          });
}

void Glob::add(char32_t literal) {
  steps_.push_back({.value = literal});
}

void Glob::add(Set set) {
  steps_.push_back({.kind = Kind::set, .value = static_cast<char32_t>(sets_.size())});
  sets_.push_back(std::move(set));
}

/// Returns nothing if the step matches more than one row of bytes.
std::string Glob::bytes_of(const Step& step) const {
  if (step.kind != Kind::literal) {
    return {};
  }
  if (unit_ == Unit::byte) {
    return {static_cast<char>(step.value)};
  }
  return step.value == replacement ? std::string{} : encode_utf8(step.value);
}

void Glob::finish() {
  const auto is_plain = [&](const Step& step) { return !bytes_of(step).empty(); };
  const auto first = std::ranges::find_if_not(steps_, is_plain);
  const auto last =
      std::find_if_not(steps_.rbegin(), std::reverse_iterator{first}, is_plain).base();
  std::for_each(steps_.begin(), first, [&](const Step& step) { prefix_ += bytes_of(step); });
  std::for_each(last, steps_.end(), [&](const Step& step) { suffix_ += bytes_of(step); });
  steps_ = std::vector<Step>(first, last);
  bool continues = false;
  for (const Step& step : steps_) {
    const std::string bytes = bytes_of(step);
    if (!bytes.empty() && !continues) {
      runs_.emplace_back();
    }
    continues = !bytes.empty();
    if (continues) {
      runs_.back() += bytes;
    }
  }
}

/// A quick test that most texts fail: whether all literals are in `text`, in order.
bool Glob::has_runs(std::string_view text) const {
  return std::ranges::all_of(runs_, [&](const std::string& run) {
    const auto at = text.find(run);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + run.size());
    return at != std::string_view::npos;
  });
}

bool Glob::is_text_of_double_star(std::string_view text) const {
  return unit_ == Unit::byte || text.find('\n') == std::string_view::npos;
}

/// Follows every way through the steps at once, so that the time is at most the product of both
/// lengths.
class Glob::Run {
public:
  explicit Run(const Glob& glob) : glob_{glob}, steps_{glob.steps_}, count_{glob.steps_.size()} {
    if (count_ > few) {
      large_.resize(2 * (count_ + 1));
      states_ = large_.data();
    }
    next_ = states_ + count_ + 1;
    reach(0);
    advance();
  }

  bool matches(std::string_view text) {
    const std::size_t line_feed = takes_line_feed() ? std::string_view::npos : text.rfind('\n');
    const std::size_t rest_from = line_feed == std::string_view::npos ? 0 : line_feed + 1;
    const bool ends_with_rest = steps_.back().kind == Kind::rest;
    const std::size_t size = text.size();
    while (!text.empty() && first_ < last_) {
      if (ends_with_rest && states_[count_ - 1] != 0 && size - text.size() >= rest_from) {
        return true;
      }
      char32_t c = static_cast<unsigned char>(text.front());
      if (glob_.unit_ == Unit::byte) {
        text.remove_prefix(1);
      } else {
        c = take_character(text);
      }
      for (std::size_t i = first_; i < std::min(last_, count_); ++i) {
        if (states_[i] != 0) {
          take(c, i);
        }
      }
      advance();
    }
    return text.empty() && first_ < last_ && states_[count_] != 0;
  }

private:
  static constexpr char here{1};
  static constexpr char inside{2};  // of the text of `directories`
  static constexpr std::size_t few{127};

  bool takes_line_feed() const { return glob_.unit_ == Unit::byte; }

  /// Lets step `i` match `c`.
  void take(char32_t c, std::size_t i) {
    const Step& step = steps_[i];
    switch (step.kind) {
      case Kind::literal: return reach_if(c == step.value, i + 1);
      case Kind::one: return reach_if(c != U'/', i + 1);
      case Kind::set: return reach_if(glob_.sets_[step.value].contains(c), i + 1);
      case Kind::any: return reach_if(c != U'/', i);
      case Kind::directories:
        if (c != U'\n' || takes_line_feed()) {
          set(i, inside);
        }
        return reach_if(c == U'/', i + 1);
      case Kind::rest: return;
    }
  }

  void reach_if(bool condition, std::size_t i) {
    if (condition) {
      reach(i);
    }
  }

  /// Sets the state before step `i`, and those that follow from it because steps match nothing.
  void reach(std::size_t i) {
    for (bool goes_on = true; goes_on && (next_[i] & here) == 0; ++i) {
      set(i, here);
      goes_on = i < count_ && steps_[i].kind >= Kind::any;
    }
  }

  void set(std::size_t i, char state) {
    next_[i] = static_cast<char>(next_[i] | state);
    next_first_ = std::min(next_first_, i);
    next_last_ = std::max(next_last_, i + 1);
  }

  void advance() {
    std::fill(states_ + first_, states_ + last_, '\0');
    std::swap(states_, next_);
    first_ = std::exchange(next_first_, count_);
    last_ = std::exchange(next_last_, 0);
  }

  const Glob& glob_;
  const std::vector<Step>& steps_;
  std::size_t count_;
  std::array<char, 2 * (few + 1)> small_{};
  std::vector<char> large_{};
  char* states_{small_.data()};
  char* next_{nullptr};
  // Only states from the first up to the last, exclusive, are set.
  std::size_t first_{0};
  std::size_t last_{0};
  std::size_t next_first_{0};
  std::size_t next_last_{0};
};

bool Glob::is_middle(std::string_view text) const {
  if (steps_.size() == 1) {
    switch (steps_.front().kind) {
      case Kind::any: return text.find('/') == std::string_view::npos;
      case Kind::directories:
        return text.empty() || (text.ends_with('/') && is_text_of_double_star(text));
      case Kind::rest: return is_text_of_double_star(text);
      case Kind::literal:
      case Kind::one:
      case Kind::set: break;
    }
  }
  return has_runs(text) && Run{*this}.matches(text);
}

bool Glob::may_match_below(std::string_view directory) const {
  const std::string below = std::string{directory} + "/";
  return prefix_.starts_with(below) || (!steps_.empty() && below.starts_with(prefix_));
}

}  // namespace autopack::source
