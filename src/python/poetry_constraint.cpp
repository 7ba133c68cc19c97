#include "base/text.hpp"
#include "python/specifier.hpp"

#include <algorithm>
#include <utility>

namespace autopack::python {

namespace {

Specifier condition(Specifier::Operator op, Version version) {
  return {.op = op, .version = std::move(version)};
}

/// Returns the first version that shares at most `kept` release numbers with `version`.
Version next_after(const Version& version, std::size_t kept) {
  Version next = version.base();
  next.release.resize(kept);
  ++next.release.back();
  return next;
}

void add_range(std::vector<Specifier>& all, const Version& version, std::size_t kept) {
  all.push_back(condition(Specifier::Operator::at_least, version));
  all.push_back(condition(Specifier::Operator::less, next_after(version, kept)));
}

/// For `^1.2`: the upper bound is the next version whose first non-zero number differs.
std::size_t kept_by_caret(const Version& version) {
  const auto& numbers = version.release;
  const auto first = std::ranges::find_if(numbers, [](auto number) { return number != 0; });
  return first == numbers.end() ? numbers.size()
                                : static_cast<std::size_t>(first - numbers.begin()) + 1;
}

/// Returns false if `text` is not a condition.
bool add_condition(std::vector<Specifier>& all, std::string_view text) {
  if (text.empty() || text == "*") {
    return true;
  }
  if (text.front() == '^' || (text.front() == '~' && !text.starts_with("~="))) {
    const auto version = Version::parse(text.substr(1));
    if (version) {
      add_range(all, *version,
                text.front() == '^' ? kept_by_caret(*version)
                                    : std::min<std::size_t>(version->release.size(), 2));
    }
    return version.has_value();
  }
  const bool bare = text.find_first_of("=<>!~") != 0;
  const std::string whole = text.front() == '=' && !text.starts_with("==") ? "=" + std::string{text}
                            : bare ? "==" + std::string{text}
                                   : std::string{text};
  auto specifier = Specifier::parse(whole);
  if (specifier) {
    all.push_back(std::move(*specifier));
  }
  return specifier.has_value();
}

/// Commas or white space separate conditions; white space may follow an operator.
std::vector<std::string> conditions_of(std::string_view text) {
  std::vector<std::string> words;
  for (const char c : replace_all(std::string{text}, ",", " ")) {
    const bool space = c == ' ' || c == '\t';
    const bool open = !words.empty() && !words.back().empty() &&
                      words.back().find_first_not_of("=<>!~^") == std::string::npos;
    if (space && !open) {
      words.emplace_back();
    } else if (!space) {
      if (words.empty()) {
        words.emplace_back();
      }
      words.back() += c;
    }
  }
  return words;
}

}  // namespace

std::optional<std::vector<SpecifierSet>> parse_poetry_constraint(std::string_view text) {
  std::vector<SpecifierSet> alternatives;
  for (const auto& part : split(replace_all(std::string{text}, "||", "|"), '|')) {
    std::vector<Specifier> all;
    for (const auto& word : conditions_of(trim(part))) {
      if (!add_condition(all, word)) {
        return std::nullopt;
      }
    }
    alternatives.emplace_back(std::move(all));
  }
  return alternatives;
}

}  // namespace autopack::python
