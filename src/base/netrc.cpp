#include "base/netrc.hpp"

#include "base/text.hpp"

#include <optional>
#include <vector>

namespace autopack {

namespace {

constexpr std::string_view white_space = " \t\r\n";

/// Returns the next word with its quotes and backslashes; nothing at the end, or if a quote is
/// never closed.
std::optional<std::string_view> next_word(std::string_view& text) {
  for (;;) {
    const auto begin = text.find_first_not_of(white_space);
    if (begin == std::string_view::npos) {
      return std::nullopt;
    }
    text.remove_prefix(begin);
    if (text.front() != '#') {
      break;
    }
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  std::size_t end = text.find_first_of(white_space);
  if (text.front() == '"') {
    end = 1;
    while (end < text.size() && text[end] != '"') {
      end += text[end] == '\\' ? 2U : 1U;
    }
    ++end;
    if (end > text.size()) {
      text = {};
      return std::nullopt;
    }
  }
  const auto word = text.substr(0, end);
  text.remove_prefix(std::min(end, text.size()));
  return word;
}

/// Returns the value of a word in a file.
std::string unquoted(std::string_view word) {
  if (word.starts_with('"')) {
    word = word.substr(1, word.size() - 2);
  }
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    i += word[i] == '\\' && i + 1 < word.size() ? 1U : 0U;
    text += word[i];
  }
  return text;
}

}  // namespace

std::string netrc_entries(std::string_view text, const std::set<std::string>& hosts) {
  std::string result;
  bool wanted = false;
  while (const auto word = next_word(text)) {
    if (*word == "macdef") {
      // A macro ends with an empty line.
      text.remove_prefix(std::min(text.find("\n\n"), text.size()));
    } else if (*word == "default") {
      wanted = false;
    } else if (*word == "machine") {
      const auto host = next_word(text).value_or("");
      wanted = hosts.contains(to_lower(host));
      if (wanted) {
        result += (result.empty() ? "" : "\n") + ("machine " + std::string{host});
      }
    } else if (const auto value = next_word(text);
               value && wanted && (*word == "login" || *word == "password" || *word == "account")) {
      result += " " + std::string{*word} + " " + std::string{*value};
    }
  }
  return result.empty() ? result : result + "\n";
}

std::optional<NetrcLogin> netrc_login(std::string_view text, const std::string& host) {
  const std::string entries = netrc_entries(text, {to_lower(host)});
  std::string_view rest{entries};
  std::optional<NetrcLogin> login;
  while (const auto word = next_word(rest)) {
    const std::string value = unquoted(next_word(rest).value_or(""));
    if (*word == "machine") {
      login.emplace();
    } else if (*word == "login") {
      login->user = value;
    } else if (*word == "password") {
      login->password = Secret{value};
    }
  }
  return login;
}

}  // namespace autopack
