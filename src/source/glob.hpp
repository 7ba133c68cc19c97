#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::source {

/// The compiled form of a pattern, for docker's patterns and for git's: a row of steps that must
/// match all of a text. Each front end reads its own syntax and adds the steps.
class Glob {
public:
  /// Git compares bytes. Docker compares characters, and its `**` does not match a line feed.
  enum class Unit : std::uint8_t { byte, character };

  /// The characters (or bytes) that one `[...]` matches.
  class Set {
  public:
    void add(char32_t first, char32_t last);
    /// Adds the ASCII characters of `[:name:]`; returns false if there is no such class.
    bool add_class(std::string_view name);
    void invert();
    void remove(char32_t low);

    bool contains(char32_t c) const;

  private:
    std::bitset<256> low_{};
    std::vector<std::pair<char32_t, char32_t>> ranges_{};  ///< of those from 256 on
    bool inverted_{false};                                 ///< for `ranges_`
  };

  explicit Glob(Unit unit) : unit_{unit} {}

  void add(char32_t literal);
  void add(Set set);

  /// `?`: one, but not a slash.
  void add_one() { steps_.push_back({.kind = Kind::one}); }

  /// `*`: any number, but no slash.
  void add_any() { steps_.push_back({.kind = Kind::any}); }

  /// `**/`: nothing, or anything that ends with a slash.
  void add_directories() { steps_.push_back({.kind = Kind::directories}); }

  /// A `**` at the end: anything.
  void add_rest() { steps_.push_back({.kind = Kind::rest}); }

  /// Call it once, after the last step.
  void finish();

  bool matches(std::string_view text) const {
    if (steps_.empty()) {
      return text == prefix_;
    }
    const std::size_t ends = prefix_.size() + suffix_.size();
    return text.size() >= ends && text.starts_with(prefix_) && text.ends_with(suffix_) &&
           is_middle(text.substr(prefix_.size(), text.size() - ends));
  }

  /// Returns false if it matches nothing below `directory`.
  bool may_match_below(std::string_view directory) const;

  /// Returns what every text that it matches ends with, if it does not match one text only; may be
  /// empty.
  const std::string& suffix() const { return suffix_; }

private:
  class Run;

  enum class Kind : std::uint8_t { literal, one, set, any, directories, rest };

  struct Step {
    Kind kind{Kind::literal};
    char32_t value{};  ///< the character, or the index into sets_
  };

  bool is_middle(std::string_view text) const;
  bool has_runs(std::string_view text) const;
  bool is_text_of_double_star(std::string_view text) const;
  std::string bytes_of(const Step& step) const;

  Unit unit_;
  std::string prefix_{};             ///< the literals at the start, which `steps_` no longer has
  std::string suffix_{};             ///< the literals at the end, the same
  std::vector<std::string> runs_{};  ///< the rows of literals in `steps_`
  std::vector<Step> steps_{};
  std::vector<Set> sets_{};
};

/// Returns the code point at the start of `text`, and removes it; U+FFFD for a byte that is not
/// UTF-8, as in Go.
char32_t take_character(std::string_view& text);

}  // namespace autopack::source
