#include "project/requirements/requirement_lines.hpp"

#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

/// Returns the number of bytes at the front of `text` that form one of `characters`, non-ASCII
/// white space; 0 if none.
template <std::size_t count>
std::size_t leading(std::string_view text, const std::array<std::string_view, count>& characters) {
  if (text.front() >= ' ' && text.front() <= '~') {
    return 0;
  }
  const auto* const found = std::ranges::find_if(
      characters, [&](std::string_view character) { return text.starts_with(character); });
  return found == characters.end() ? 0 : found->size();
}

/// The line ends of Python's str.splitlines.
constexpr std::array<std::string_view, 11> line_ends{
    "\r\n", "\n",   "\r",       "\v",           "\f",          "\x1c",
    "\x1d", "\x1e", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};

/// Other white space of str.strip and of `\s`.
constexpr std::array<std::string_view, 17> wide_spaces{
    "\x1f",         "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81", "\xe2\x80\x82",
    "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86", "\xe2\x80\x87", "\xe2\x80\x88",
    "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};

std::string with_plain_spaces(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const std::size_t wide = leading(line, wide_spaces);
    text += wide > 0 ? ' ' : line.front();
    line.remove_prefix(std::max<std::size_t>(wide, 1));
  }
  return text;
}

}  // namespace

std::vector<PhysicalLine> physical_lines(std::string_view text) {
  std::vector<PhysicalLine> lines;
  int number = 1;
  bool begins = true;
  while (!text.empty()) {
    std::size_t size = 0;
    std::size_t end = 0;
    while (size < text.size() && (end = leading(text.substr(size), line_ends)) == 0) {
      ++size;
    }
    const auto sign = text.substr(size, end);
    const bool ends = sign.empty() || sign.ends_with('\n');
    lines.push_back({with_plain_spaces(text.substr(0, size)), number, begins, ends});
    text.remove_prefix(size + end);
    begins = ends;
    number += ends ? 1 : 0;
  }
  return lines;
}

namespace {

struct Option {
  std::string_view name;
  std::string_view alias;  ///< short or older spelling; may be empty
  bool takes_value;
};

constexpr std::array<Option, 20> known_options{{{"--requirement", "-r", true},
                                                {"--constraint", "-c", true},
                                                {"--editable", "-e", true},
                                                {"--find-links", "-f", true},
                                                {"--index-url", "-i", true},
                                                {"--index-url", "--pypi-url", true},
                                                {"--extra-index-url", "", true},
                                                {"--no-index", "", false},
                                                {"--no-binary", "", true},
                                                {"--only-binary", "", true},
                                                {"--prefer-binary", "", false},
                                                {"--require-hashes", "", false},
                                                {"--pre", "", false},
                                                {"--trusted-host", "", true},
                                                {"--use-feature", "", true},
                                                {"--hash", "", true},
                                                {"--global-option", "", true},
                                                {"--install-option", "", true},
                                                {"--config-settings", "--config-setting", true},
                                                {"--config-settings", "-C", true}}};

/// Finds by name, alias or an unambiguous prefix of a long name, like Python's optparse.
const Option* find_option_named(std::string_view name) {
  const Option* found = nullptr;
  for (const auto& option : known_options) {
    if (option.name == name || (!option.alias.empty() && option.alias == name)) {
      return &option;
    }
    if (name.starts_with("--") && name.size() > 2 && option.name.starts_with(name)) {
      if (found != nullptr && found->name != option.name) {
        return nullptr;
      }
      found = &option;
    }
  }
  return found;
}

bool complain(RequirementLine& line, std::string problem) {
  line.problem = redact_credentials(std::move(problem));
  return false;
}

/// A newer pip may know it: passes it on, with the next word if that may be its value.
void keep_unknown(RequirementLine& line,
                  const std::string& name,
                  std::optional<std::string> value,
                  const std::vector<std::string>& words,
                  std::size_t& at) {
  line.unknown.push_back(name);
  if (!value && at < words.size() && !words[at].starts_with('-')) {
    value = words[at++];
  }
  line.options.emplace_back(name, value.value_or(""));
}

/// Reads the option at `words[at]` and moves `at` past it; returns false if it is invalid.
bool read_option(RequirementLine& line, const std::vector<std::string>& words, std::size_t& at) {
  const std::string& word = words[at++];
  const bool is_long = word.starts_with("--");
  const auto equals = is_long ? word.find('=') : std::string::npos;
  const std::string name = is_long ? word.substr(0, equals) : word.substr(0, 2);
  std::optional<std::string> value;
  if (equals != std::string::npos) {
    value = word.substr(equals + 1);
  } else if (!is_long && word.size() > 2) {
    value = word.substr(2);
  }
  const Option* option = find_option_named(name);
  if (option == nullptr) {
    keep_unknown(line, name, std::move(value), words, at);
    return true;
  }
  if (!option->takes_value) {
    if (value) {
      return complain(line, fmt::format("`{}` takes no value", option->name));
    }
    line.options.emplace_back(option->name, "");
    return true;
  }
  if (!value && at < words.size()) {
    value = words[at++];
  }
  if (!value || trim(*value).empty()) {
    return complain(line, fmt::format("`{}` wants a value", option->name));
  }
  line.options.emplace_back(option->name, *value);
  return true;
}

/// As in pip: the first blank-separated token with a dash starts the options.
void split_options(RequirementLine& line, std::string_view content) {
  std::size_t begin = content.size();
  for (std::size_t at = 0; at < content.size();) {
    const auto space = std::min(content.find(' ', at), content.size());
    if (content[at] == '-') {
      begin = at;
      break;
    }
    at = space + 1;
  }
  line.requirement = non_empty(std::string{trim(content.substr(0, begin))});
  const auto words = split_words(content.substr(begin));
  if (!words) {
    line.problem = "a quote is not closed";
    return;
  }
  for (std::size_t at = 0; at < words->size() && (*words)[at] != "--";) {
    if ((*words)[at].size() < 2 || !(*words)[at].starts_with('-')) {
      ++at;  // pip ignores further words
      continue;
    }
    if (!read_option(line, *words, at)) {
      return;
    }
  }
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// Returns where a comment starts: `#` at the beginning or after white space.
std::size_t comment_start(std::string_view line) {
  for (auto at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || is_blank(line[at - 1])) {
      return at;
    }
  }
  return std::string_view::npos;
}

bool is_comment(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '#';
}

bool continues(std::string_view line) {
  return line.ends_with('\\') && !is_comment(line);
}

/// Returns a continued line as pip reads it: without the backslashes at both ends.
std::string without_backslashes(std::string_view line) {
  const auto begin = line.find_first_not_of('\\');
  return begin == std::string_view::npos
             ? std::string{}
             : std::string{line.substr(begin, line.find_last_not_of('\\') - begin + 1)};
}

}  // namespace

std::optional<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\0' && is_blank(c)) {
      if (in_word) {
        words.push_back(std::move(word));
        word.clear();
        in_word = false;
      }
      continue;
    }
    in_word = true;
    if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (c == '\\' && quote != '\'') {
      if (i + 1 == text.size()) {
        return std::nullopt;
      }
      const char next = text[++i];
      if (quote == '"' && next != '"' && next != '\\') {
        word += '\\';
      }
      word += next;
    } else {
      word += c;
    }
  }
  if (quote != '\0') {
    return std::nullopt;
  }
  if (in_word) {
    words.push_back(std::move(word));
  }
  return words;
}

std::optional<std::string> similar_option(const std::string& name) {
  std::vector<std::string> names;
  std::ranges::transform(known_options, std::back_inserter(names),
                         [](const auto& option) { return std::string{option.name}; });
  const auto near = nearest(name, names);
  return near ? std::optional{fmt::format("did you mean `{}`?", *near)} : std::nullopt;
}

std::vector<RequirementLine> split_requirements(std::string_view text) {
  std::vector<RequirementLine> result;
  const auto lines = physical_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    RequirementLine line;
    line.first = lines[i].number;
    line.is_alone = lines[i].begins;
    std::string content;
    // A comment ends a continued line, and a backslash at its end has no effect.
    while (continues(lines[i].text) && i + 1 < lines.size()) {
      content += without_backslashes(lines[i++].text);
    }
    const std::string& last = lines[i].text;
    content += is_comment(last) ? " " + last : continues(last) ? without_backslashes(last) : last;
    line.last = lines[i].number;
    line.is_alone = line.is_alone && lines[i].ends;
    const std::string_view bare = trim(std::string_view{content}.substr(0, comment_start(content)));
    if (!bare.empty()) {
      split_options(line, bare);
      result.push_back(std::move(line));
    }
  }
  return result;
}

}  // namespace autopack::project
