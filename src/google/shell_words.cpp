#include "google/shell_words.hpp"

namespace autopack::google {

namespace {

constexpr std::string_view space{" \t\r\n"};
/// Characters that a backslash escapes between double quotes (POSIX, XCU 2.2.3).
constexpr std::string_view special{"$`\"\\\n"};

/// Returns the text up to the closing quote and consumes both; nothing if the quote is not closed.
std::optional<std::string> quoted(std::string_view& rest, char quote) {
  std::string text;
  while (!rest.empty() && rest.front() != quote) {
    const bool escapes = quote == '"' && rest.front() == '\\' && rest.size() > 1 &&
                         special.find(rest[1]) != std::string_view::npos;
    rest.remove_prefix(escapes ? 1 : 0);
    text += rest.front();
    rest.remove_prefix(1);
  }
  if (rest.empty()) {
    return std::nullopt;
  }
  rest.remove_prefix(1);
  return text;
}

}  // namespace

std::optional<std::vector<std::string>> shell_words(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  const auto add = [&](std::string_view more) {
    if (!in_word) {
      words.emplace_back();
    }
    in_word = true;
    words.back() += more;
  };
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (space.find(c) != std::string_view::npos) {
      in_word = false;
    } else if (c == '\'' || c == '"') {
      const auto inner = quoted(text, c);
      if (!inner) {
        return std::nullopt;
      }
      add(*inner);
    } else if (c == '\\' && !text.empty()) {
      add(text.substr(0, 1));
      text.remove_prefix(1);
    } else {
      add({&c, 1});
    }
  }
  return words;
}

}  // namespace autopack::google
