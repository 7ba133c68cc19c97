#include "cli/folded.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace autopack::cli {

namespace {

/// The text after a verb or name begins at most in this column.
constexpr std::size_t deepest{24};
constexpr std::string_view hint_mark{"hint: "};
constexpr std::string_view digest_start{"sha256:"};
constexpr std::size_t digest_digits{64};
constexpr std::size_t shown_digits{12};

/// Returns the columns of `text`: one for each character; colours take no column.
std::size_t width(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = std::min(text.find('m', at), text.size());
    } else if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U) {
      ++columns;
    }
  }
  return columns;
}

std::string without_colours(std::string_view line) {
  std::string text;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\x1b') {
      at = std::min(line.find('m', at), line.size());
    } else {
      text += line[at];
    }
  }
  return text;
}

std::size_t leading_spaces(std::string_view plain) {
  return std::min(plain.find_first_not_of(' '), plain.size());
}

/// Returns where continued lines begin.
std::size_t depth_of_text(std::string_view plain, std::size_t columns) {
  const std::size_t begin = leading_spaces(plain);
  const auto gap = plain.find("  ", begin);
  const auto text = gap == std::string_view::npos ? gap : plain.find_first_not_of(' ', gap);
  return text <= std::min(deepest, columns / 2) ? text : begin + 2;
}

/// Returns the end of the word at `word`; with `keeps_code`, text in backticks is one word.
std::size_t end_of_word(std::string_view line, std::size_t word, bool keeps_code) {
  auto end = std::min(line.find(' ', word), line.size());
  while (keeps_code && end < line.size() &&
         std::ranges::count(line.substr(word, end - word), '`') % 2 != 0) {
    end = std::min(line.find(' ', end + 1), line.size());
  }
  return end;
}

/// Returns true for a hint in prose. A command stays on its line, so that it can be pasted.
bool is_prose(std::string_view hint) {
  static constexpr std::array commands{
      std::string_view{"autopack"}, std::string_view{"gcloud"}, std::string_view{"docker"},
      std::string_view{"echo"},     std::string_view{"export"}, std::string_view{"git"},
      std::string_view{"pip"},      std::string_view{"uv"},     std::string_view{"mkdir"},
      std::string_view{"sudo"},     std::string_view{"apt"},    std::string_view{"chmod"},
      std::string_view{"rm"},       std::string_view{"mv"},     std::string_view{"unset"},
      std::string_view{"python3"},  std::string_view{"sed"},    std::string_view{"printf"}};
  const auto first = hint.substr(0, hint.find(' '));
  // `log in: gcloud auth ...` ends with a command.
  const auto colon = hint.find(": ");
  const bool ends_in_command = colon != std::string_view::npos && !is_prose(hint.substr(colon + 2));
  return !first.starts_with('-') && !std::ranges::count(commands, first) && !ends_in_command &&
         hint.find(">>") == std::string_view::npos && !hint.ends_with('\\');
}

std::string folded_line(std::string_view line,
                        std::string_view plain,
                        std::size_t columns,
                        bool keeps_code = false) {
  const std::size_t deep = depth_of_text(plain, columns);
  std::string result;
  std::size_t used = 0;
  bool has_word = false;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t word = std::min(line.find_first_not_of(' ', at), line.size());
    const std::size_t end = end_of_word(line, word, keeps_code);
    const std::size_t needed = width(line.substr(at, end - at));
    if (has_word && used + needed > columns) {
      result += "\n" + std::string(deep, ' ');
      used = deep;
      at = word;
    }
    result += line.substr(at, end - at);
    used += width(line.substr(at, end - at));
    has_word = has_word || used > deep;
    at = end;
  }
  return result;
}

bool is_digit_of_digest(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

}  // namespace

std::string folded(std::string_view text, std::size_t columns) {
  std::string result;
  std::size_t hint = std::string_view::npos;  // where the hint begins that is continued
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    const std::string plain = without_colours(line);
    const std::size_t begin = leading_spaces(plain);
    bool is_prose_hint = false;
    if (const auto rest = std::string_view{plain}.substr(begin); rest.starts_with(hint_mark)) {
      hint = begin;
      is_prose_hint = is_prose(rest.substr(hint_mark.size()));
    } else if (begin <= hint) {
      hint = std::string_view::npos;
    }
    const bool stays = (hint != std::string_view::npos && !is_prose_hint) || width(line) <= columns;
    result += stays ? std::string{line} : folded_line(line, plain, columns, is_prose_hint);
    result += end < text.size() ? "\n" : "";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string with_short_digests(std::string_view text) {
  std::string result;
  for (auto at = text.find(digest_start); at != std::string_view::npos;
       at = text.find(digest_start)) {
    const std::size_t begin = at + digest_start.size();
    const auto digits = text.substr(begin, digest_digits);
    const bool is_whole =
        digits.size() == digest_digits && std::ranges::all_of(digits, is_digit_of_digest);
    result += text.substr(0, begin);
    if (is_whole) {
      result += std::string{digits.substr(0, shown_digits)} + "...";
    }
    text.remove_prefix(is_whole ? begin + digest_digits : begin);
  }
  return result + std::string{text};
}

}  // namespace autopack::cli
