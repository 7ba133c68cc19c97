#include "python/version.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <utility>

namespace autopack::python {

namespace {

constexpr std::size_t most_digits{18};

bool is_separator(char c) {
  return c == '.' || c == '-' || c == '_';
}

/// Reads a version, in lower case, from start to end.
class VersionReader {
public:
  explicit VersionReader(std::string_view text) : rest_{text} {}

  std::optional<Version> read() {
    take("v");
    Version version;
    if (!read_release(version)) {
      return std::nullopt;
    }
    read_pre(version);
    read_post(version);
    read_dev(version);
    const bool whole = read_local(version) && rest_.empty() && !too_long_;
    return whole ? std::optional{std::move(version)} : std::nullopt;
  }

private:
  bool take(std::string_view word) {
    const bool there = rest_.starts_with(word);
    rest_.remove_prefix(there ? word.size() : 0);
    return there;
  }

  void take_separator() { rest_.remove_prefix(!rest_.empty() && is_separator(rest_.front())); }

  /// Returns nothing if no digit follows.
  std::optional<std::uint64_t> number() {
    std::size_t end = 0;
    while (end < rest_.size() && is_digit(rest_[end])) {
      ++end;
    }
    if (end == 0) {
      return std::nullopt;
    }
    std::uint64_t value{0};
    if (end <= most_digits) {
      std::from_chars(rest_.data(), rest_.data() + end, value);
    } else {
      too_long_ = true;
    }
    rest_.remove_prefix(end);
    return value;
  }

  bool read_release(Version& version) {
    auto first = number();
    if (first && take("!")) {
      version.epoch = *first;
      first = number();
    }
    if (!first) {
      return false;
    }
    version.release.push_back(*first);
    while (rest_.size() > 1 && rest_.front() == '.' && is_digit(rest_[1])) {
      rest_.remove_prefix(1);
      version.release.push_back(number().value());
    }
    return true;
  }

  /// Reads one of `words`, with or without a separator before it; consumes nothing if none follows.
  template <class Words>
  std::optional<std::string_view> word(const Words& words) {
    const auto before = rest_;
    take_separator();
    for (const std::string_view one : words) {
      if (take(one)) {
        return one;
      }
    }
    rest_ = before;
    return std::nullopt;
  }

  /// Reads the number after a word: `.1`, `1`, or none, which means 0.
  std::uint64_t number_after() {
    take_separator();
    return number().value_or(0);
  }

  void read_pre(Version& version) {
    // If one is the beginning of another, the longer one comes first.
    static constexpr std::array<std::string_view, 8> words{"alpha", "a", "beta",    "b",
                                                           "rc",    "c", "preview", "pre"};
    const auto found = word(words);
    if (!found) {
      return;
    }
    const auto stage = found->front() == 'a'   ? Version::Stage::alpha
                       : found->front() == 'b' ? Version::Stage::beta
                                               : Version::Stage::candidate;
    version.pre = Version::Prerelease{.stage = stage, .number = number_after()};
  }

  void read_post(Version& version) {
    if (rest_.size() > 1 && rest_.front() == '-' && is_digit(rest_[1])) {
      rest_.remove_prefix(1);
      version.post = number();
    } else if (word(std::array<std::string_view, 3>{"post", "rev", "r"})) {
      version.post = number_after();
    }
  }

  void read_dev(Version& version) {
    if (word(std::array<std::string_view, 1>{"dev"})) {
      version.dev = number_after();
    }
  }

  /// Returns false if the text after `+` is not a local part.
  bool read_local(Version& version) {
    if (!take("+")) {
      return true;
    }
    for (;;) {
      std::size_t end = 0;
      while (end < rest_.size() && is_alphanumeric(rest_.substr(end, 1))) {
        ++end;
      }
      if (end == 0) {
        return false;
      }
      std::string part{rest_.substr(0, end)};
      if (std::ranges::all_of(part, is_digit)) {
        part.erase(0, std::min(part.find_first_not_of('0'), part.size() - 1));
      }
      version.local.push_back(std::move(part));
      rest_.remove_prefix(end);
      if (rest_.empty()) {
        return true;
      }
      if (!is_separator(rest_.front())) {
        return false;
      }
      rest_.remove_prefix(1);
    }
  }

  std::string_view rest_;
  bool too_long_{false};
};

std::string_view word_of(Version::Stage stage) {
  switch (stage) {
    case Version::Stage::alpha: return "a";
    case Version::Stage::beta: return "b";
    default: return "rc";
  }
}

/// Ignores trailing zeros.
std::strong_ordering compare_releases(const std::vector<std::uint64_t>& a,
                                      const std::vector<std::uint64_t>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const auto order = (i < a.size() ? a[i] : 0) <=> (i < b.size() ? b[i] : 0);
    if (order != 0) {
      return order;
    }
  }
  return std::strong_ordering::equal;
}

/// Numbers sort after words, and compare as numbers.
std::strong_ordering compare_local(const std::string& a, const std::string& b) {
  const bool a_counts = is_digit(a.front()) && std::ranges::all_of(a, is_digit);
  const bool b_counts = is_digit(b.front()) && std::ranges::all_of(b, is_digit);
  if (a_counts != b_counts) {
    return a_counts ? std::strong_ordering::greater : std::strong_ordering::less;
  }
  return a_counts && a.size() != b.size() ? a.size() <=> b.size() : a <=> b;
}

std::strong_ordering compare_locals(const std::vector<std::string>& a,
                                    const std::vector<std::string>& b) {
  return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end(),
                                                compare_local);
}

/// Orders a version among those of the same release: first the development releases of the release
/// itself, then pre-releases, then the release and later ones.
auto stage_key(const Version& version) {
  const bool only_dev = !version.pre && !version.post && version.dev;
  const int place = only_dev ? 0 : version.pre ? 1 : 2;
  return std::tuple{place,
                    version.pre.value_or(Version::Prerelease{}),
                    version.post.has_value(),
                    version.post.value_or(0),
                    !version.dev.has_value(),
                    version.dev.value_or(0)};
}

}  // namespace

std::optional<Version> Version::parse(std::string_view text) {
  const std::string lower = to_lower(trim(text));
  return VersionReader{lower}.read();
}

std::string Version::str() const {
  std::string text = epoch == 0 ? "" : std::to_string(epoch) + "!";
  for (std::size_t i = 0; i < release.size(); ++i) {
    text += (i == 0 ? "" : ".") + std::to_string(release[i]);
  }
  if (pre) {
    text += word_of(pre->stage);
    text += std::to_string(pre->number);
  }
  text += post ? ".post" + std::to_string(*post) : "";
  text += dev ? ".dev" + std::to_string(*dev) : "";
  return local.empty() ? text : text + "+" + join(local, ".");
}

Version Version::without_local() const {
  Version version = *this;
  version.local.clear();
  return version;
}

Version Version::base() const {
  return {.epoch = epoch, .release = release};
}

std::strong_ordering Version::operator<=>(const Version& other) const {
  if (const auto order = epoch <=> other.epoch; order != 0) {
    return order;
  }
  if (const auto order = compare_releases(release, other.release); order != 0) {
    return order;
  }
  if (const auto order = stage_key(*this) <=> stage_key(other); order != 0) {
    return order;
  }
  return compare_locals(local, other.local);
}

}  // namespace autopack::python
