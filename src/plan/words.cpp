#include "plan/words.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/core.h>

namespace autopack::plan {

namespace {

/// The builder's parser removes quotes, backslashes and variables from a word, even in JSON.
std::string escape_word(std::string_view word) {
  std::string escaped;
  for (const char c : word) {
    if (c == '\\' || c == '"' || c == '\'' || c == '$') {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

/// Sources with one of `*?[` are patterns, and only in them are backslashes special.
std::string escape_pattern(std::string_view path) {
  if (path.find_first_of("*?[") == std::string_view::npos) {
    return std::string{path};
  }
  std::string escaped;
  for (const char c : path) {
    if (c == '*' || c == '?' || c == '[') {
      escaped += {'[', c, ']'};
    } else if (c == '\\') {
      escaped += "\\\\";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

bool fits_dockerfile(std::string_view text) {
  return printable(text) == text;
}

std::string json_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + write_json(nlohmann::json(word));
  }
  return "[" + text + "]";
}

std::string copy_words(const std::vector<std::string>& sources, const std::string& destination) {
  std::vector<std::string> words;
  for (const std::string& source : sources) {
    words.push_back(escape_word(escape_pattern(source)));
  }
  words.push_back(escape_word(destination));
  return json_words(words);
}

std::vector<std::string> quoted_lines(std::string_view text) {
  if (text.ends_with('\n')) {
    text.remove_suffix(1);
  }
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) {
    line = "'" + replace_all(std::move(line), "'", "'\"'\"'") + "'";
  }
  return lines;
}

std::string sed_expression(int first_line, int last_line, std::string_view text) {
  const std::string range = first_line == last_line ? std::to_string(first_line)
                                                    : fmt::format("{},{}", first_line, last_line);
  return text.empty() ? range + "d"
                      : fmt::format("{}c\\{}", range, replace_all(std::string{text}, "\\", "\\\\"));
}

}  // namespace autopack::plan
