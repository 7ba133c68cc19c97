#include "source/secret_match.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace autopack::source {

std::string_view run_of(std::string_view text, std::size_t at, CharacterClass in_class) {
  text = text.substr(std::min(at, text.size()), secret_window);
  const auto end = std::ranges::find_if_not(text, in_class);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

std::optional<SecretMatch> token_at(const SecretRule& rule,
                                    std::string_view text,
                                    std::size_t at,
                                    std::size_t prefix) {
  if (at > 0 && is_alphanumeric(text[at - 1])) {
    return std::nullopt;
  }
  const auto rest = run_of(text, at + prefix, rule.alphabet);
  if (rest.size() < rule.least || rest.size() > rule.most || is_placeholder(rest)) {
    return std::nullopt;
  }
  const std::size_t end = at + prefix + rest.size();
  if (end < text.size() && is_alphanumeric(text[end])) {
    return std::nullopt;
  }
  return SecretMatch{rule.kind, text.substr(at, prefix + rest.size())};
}

std::optional<SecretMatch> token(const SecretRule& rule, std::string_view text, std::size_t at) {
  return token_at(rule, text, at, rule.anchor.size());
}

std::size_t value_after(std::string_view text, std::size_t at) {
  const auto skip = [&](std::string_view characters) {
    at = std::min(text.find_first_not_of(characters, at), text.size());
  };
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
    ++at;
  }
  skip(" \t");
  if (at >= text.size() || (text[at] != ':' && text[at] != '=')) {
    return std::string_view::npos;
  }
  ++at;
  skip(" \t");
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
    ++at;
  }
  return at < text.size() ? at : std::string_view::npos;
}

std::string_view value_of(const SecretRule& rule, std::string_view text, std::size_t at) {
  const std::size_t quote = rule.anchor.ends_with('"') ? 1 : 0;
  const std::size_t value = value_after(text, at + rule.anchor.size() - quote);
  return value == std::string_view::npos ? std::string_view{} : run_of(text, value, rule.alphabet);
}

std::string_view around(std::string_view text, std::size_t at) {
  const std::size_t begin = at > secret_window ? at - secret_window : 0;
  return text.substr(begin, at - begin + secret_window);
}

bool is_placeholder(std::string_view value) {
  static constexpr std::array words{"example",  "placeholder", "changeme", "change-me", "change_me",
                                    "redacted", "xxxxxx",      "yourkey",  "your-",     "your_",
                                    "insert-",  "dummy",       "******"};
  static constexpr std::string_view references{"<$%{["};
  if (value.empty() || references.find(value.front()) != std::string_view::npos) {
    return true;
  }
  const std::string lower = to_lower(value);
  return lower.find_first_not_of("x0*.-_?") == std::string::npos ||
         std::ranges::any_of(
             words, [&](const char* word) { return lower.find(word) != std::string::npos; });
}

}  // namespace autopack::source
