#include "source/automaton.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "source/regexp.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace autopack::source {

namespace {

using Kind = RegexpItem::Kind;
using Word = std::uint64_t;

constexpr std::size_t word_bits = 64;
constexpr std::size_t most_words = 8;
constexpr std::size_t table_size = 128;

/// Bit i: item i comes next; the bit after the last item: all are matched.
template <std::size_t words>
using States = std::array<Word, words>;

/// One alternative of an expression.
struct Branch {
  std::vector<RegexpItem> items{};
  bool from_begin{false};
  bool to_end{false};
  std::string prefix{};      ///< literal start, taken off `items`
  std::string suffix{};      ///< literal end, taken off `items`
  std::string needed{};      ///< the longest literal of `items`
  bool looks_around{false};  ///< has assertions
  std::size_t words{1};      ///< 1 or `most_words`, as `items` need
  States<most_words> skippable{};
  std::vector<Word> advance{};  ///< `words` for each character below 128
  std::vector<Word> stay{};     ///< the same
};

void set_bit(Word* words, std::size_t bit) {
  words[bit / word_bits] |= Word{1} << bit % word_bits;
}

bool has_bit(const Word* words, std::size_t bit) {
  return (words[bit / word_bits] >> bit % word_bits & 1U) != 0;
}

/// The bytes of an item that stands for exactly one character.
std::optional<std::string> literal(const RegexpItem& item) {
  const auto& ranges = item.advance.ranges;
  const bool single = item.kind == Kind::character && !item.skippable && !item.advance.negated &&
                      item.stay.ranges.empty() && ranges.size() == 1 &&
                      ranges[0].low == ranges[0].high;
  // U+FFFD also stands for any byte that is not UTF-8; a surrogate for nothing.
  if (!single || ranges[0].low == 0xFFFD || (ranges[0].low >= 0xD800 && ranges[0].low < 0xE000)) {
    return std::nullopt;
  }
  return utf8_encode(ranges[0].low);
}

void take_ends_off(Branch& branch) {
  auto& items = branch.items;
  if (!items.empty() && items.front().kind == Kind::text_begin) {
    branch.from_begin = true;
    items.erase(items.begin());
  }
  if (!items.empty() && items.back().kind == Kind::text_end) {
    branch.to_end = true;
    items.pop_back();
  }
  branch.looks_around = std::any_of(items.begin(), items.end(),
                                    [](const auto& item) { return item.kind != Kind::character; });
  if (branch.looks_around) {
    return;
  }
  while (branch.from_begin && !items.empty() && literal(items.front())) {
    branch.prefix += *literal(items.front());
    items.erase(items.begin());
  }
  while (branch.to_end && !items.empty() && literal(items.back())) {
    branch.suffix.insert(0, *literal(items.back()));
    items.pop_back();
  }
}

std::string longest_literal(const std::vector<RegexpItem>& items) {
  std::string longest;
  std::string current;
  for (const auto& item : items) {
    if (const auto text = literal(item)) {
      current += *text;
      longest = current.size() > longest.size() ? current : longest;
    } else {
      current.clear();
    }
  }
  return longest;
}

Branch compile(std::vector<RegexpItem> items) {
  Branch branch{.items = std::move(items)};
  take_ends_off(branch);
  if (branch.items.size() >= most_words * word_bits) {
    throw Error(ErrorKind::project, "it is too long");
  }
  branch.needed = longest_literal(branch.items);
  branch.words = branch.items.size() < word_bits ? 1 : most_words;
  branch.advance.resize(table_size * branch.words);
  branch.stay.resize(table_size * branch.words);
  for (std::size_t i = 0; i < branch.items.size(); ++i) {
    const auto& item = branch.items[i];
    if (item.skippable) {
      set_bit(branch.skippable.data(), i);
    }
    for (std::size_t c = 0; c < table_size; ++c) {
      const auto character = static_cast<char32_t>(c);
      if (item.advance.contains(character)) {
        set_bit(&branch.advance[c * branch.words], i);
      }
      if (item.stay.contains(character)) {
        set_bit(&branch.stay[c * branch.words], i);
      }
    }
  }
  return branch;
}

bool is_word_character(std::optional<char32_t> c) {
  return c && (*c == U'_' || (*c >= U'0' && *c <= U'9') || (*c >= U'A' && *c <= U'Z') ||
               (*c >= U'a' && *c <= U'z'));
}

bool holds(Kind assertion, std::optional<char32_t> before, std::optional<char32_t> after) {
  const bool boundary = is_word_character(before) != is_word_character(after);
  switch (assertion) {
    case Kind::character: return false;
    case Kind::text_begin: return !before;
    case Kind::text_end: return !after;
    case Kind::boundary: return boundary;
    case Kind::no_boundary: return !boundary;
  }
  return false;
}

/// A run of one branch, which needs no more than `words`, over one text.
template <std::size_t words>
class Run {
public:
  explicit Run(const Branch& branch) : branch_{branch} { set_bit(arrived_.data(), 0); }

  bool matches(std::string_view text) {
    for (;;) {
      const bool at_end = text.empty();
      std::optional<char32_t> next;
      if (!at_end) {
        next = take_character(text);
      }
      pass_what_may_be_skipped(next);
      const bool complete = has_bit(current_.data(), branch_.items.size());
      if (at_end || (complete && !branch_.to_end)) {
        return complete;
      }
      if (!step(*next)) {
        return false;
      }
      before_ = next;
    }
  }

private:
  void pass_what_may_be_skipped(std::optional<char32_t> next) {
    if (branch_.looks_around) {
      pass(with_assertions(next).data());
    } else {
      pass(branch_.skippable.data());
    }
  }

  void pass(const Word* passable) {
    Word carry = 0;
    for (std::size_t w = 0; w < words; ++w) {
      Word word = arrived_[w] | carry;
      carry = 0;
      for (Word fresh = word & passable[w]; fresh != 0;) {
        carry |= fresh >> (word_bits - 1);
        fresh = (fresh << 1U) & ~word;
        word |= fresh;
        fresh &= passable[w];
      }
      current_[w] = word | kept_[w];
    }
  }

  States<most_words> with_assertions(std::optional<char32_t> next) const {
    auto passable = branch_.skippable;
    for (std::size_t i = 0; i < branch_.items.size(); ++i) {
      if (holds(branch_.items[i].kind, before_, next)) {
        set_bit(passable.data(), i);
      }
    }
    return passable;
  }

  /// False when no match can come of it any more.
  bool step(char32_t character) {
    if (character < table_size) {
      return step(&branch_.advance[character * words], &branch_.stay[character * words]);
    }
    States<words> advance{};
    States<words> stay{};
    for (std::size_t i = 0; i < branch_.items.size(); ++i) {
      const auto& item = branch_.items[i];
      if (has_bit(current_.data(), i) && item.advance.contains(character)) {
        set_bit(advance.data(), i);
      }
      if (has_bit(current_.data(), i) && item.stay.contains(character)) {
        set_bit(stay.data(), i);
      }
    }
    return step(advance.data(), stay.data());
  }

  bool step(const Word* advance, const Word* stay) {
    Word carry = branch_.from_begin ? 0 : 1;
    Word any = 0;
    for (std::size_t w = 0; w < words; ++w) {
      const Word taken = current_[w] & advance[w];
      arrived_[w] = taken << 1U | carry;
      carry = taken >> (word_bits - 1);
      kept_[w] = current_[w] & stay[w];
      any |= arrived_[w] | kept_[w] | carry;
    }
    return any != 0;
  }

  const Branch& branch_;
  std::optional<char32_t> before_;
  States<words> arrived_{};
  States<words> kept_{};
  States<words> current_{};
};

bool matches_branch(const Branch& branch, std::string_view text) {
  if (text.size() < branch.prefix.size() + branch.suffix.size() ||
      !text.starts_with(branch.prefix) || !text.ends_with(branch.suffix)) {
    return false;
  }
  text.remove_prefix(branch.prefix.size());
  text.remove_suffix(branch.suffix.size());
  if (text.find(branch.needed) == std::string_view::npos) {
    return false;
  }
  return branch.words == 1 ? Run<1>{branch}.matches(text) : Run<most_words>{branch}.matches(text);
}

}  // namespace

struct Automaton::Program {
  std::vector<Branch> branches{};
  std::string prefix{};
};

Automaton::Automaton(std::string_view regexp) {
  Program program;
  for (auto& items : parse_regexp(regexp)) {
    program.branches.push_back(compile(std::move(items)));
  }
  if (program.branches.size() == 1) {
    program.prefix = program.branches[0].prefix;
  }
  program_ = std::make_shared<const Program>(std::move(program));
}

bool Automaton::matches(std::string_view text) const {
  return std::any_of(program_->branches.begin(), program_->branches.end(),
                     [&](const Branch& branch) { return matches_branch(branch, text); });
}

const std::string& Automaton::prefix() const {
  return program_->prefix;
}

}  // namespace autopack::source
