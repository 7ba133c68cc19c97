#include "cli/hint_text.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace autopack::cli {

namespace {

/// Returns the length of the character at the start of `text` if it can be shown, else 0.
std::size_t shown_length(std::string_view text, Charset charset) {
  const std::size_t length = utf8_length(text);
  const auto character = text.substr(0, length);
  const bool is_shown =
      (length == 1 || charset == Charset::utf8) && printable(character) == character;
  return is_shown ? length : 0;
}

std::string escaped_byte(std::string_view text) {
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
}

/// Returns `word`, which was in single quotes, in the shell quotes that it needs.
std::string quoted(std::string_view word, Charset charset) {
  std::string escaped;
  bool is_shown = true;
  for (std::string_view rest = word; !rest.empty();) {
    const std::size_t length = shown_length(rest, charset);
    if (length == 0) {
      escaped += escaped_byte(rest);
      is_shown = false;
    } else {
      escaped += rest.starts_with('\\') ? "\\\\" : rest.substr(0, length);
    }
    rest.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return is_shown ? fmt::format("'{}'", word) : fmt::format("$'{}'", escaped);
}

/// An apostrophe follows a letter; a shell quote never does here.
bool opens_word(std::string_view text, std::size_t at) {
  return text[at] == '\'' && (at == 0 || !is_alphanumeric(text.substr(at - 1, 1)));
}

}  // namespace

std::string hint_text(std::string_view hint, Charset charset) {
  std::string result;
  static constexpr std::string_view quoted_quote{"\"'\""};
  for (std::size_t at = 0; at < hint.size();) {
    if (hint.substr(at).starts_with(quoted_quote)) {
      result += quoted_quote;
      at += quoted_quote.size();
      continue;
    }
    const auto end = opens_word(hint, at) ? hint.find('\'', at + 1) : std::string_view::npos;
    if (end != std::string_view::npos) {
      result += quoted(hint.substr(at + 1, end - at - 1), charset);
      at = end + 1;
      continue;
    }
    const auto rest = hint.substr(at);
    const std::size_t length = rest.starts_with('\n') ? 1 : shown_length(rest, charset);
    result += length == 0 ? escaped_byte(rest) : std::string{rest.substr(0, length)};
    at += std::max<std::size_t>(length, 1);
  }
  return result;
}

std::vector<std::string> hint_texts(const std::vector<std::string>& hints) {
  std::vector<std::string> texts;
  std::ranges::transform(hints, std::back_inserter(texts),
                         [](const auto& hint) { return hint_text(hint, Charset::utf8); });
  return texts;
}

}  // namespace autopack::cli
