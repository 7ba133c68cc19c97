#include "project/requirement_lines.hpp"

#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace autopack::project {

namespace {

struct Option {
  std::string_view name;
  std::string_view alias;  ///< short or older spelling; may be empty
  bool takes_value;
};

constexpr std::array<Option, 19> known_options{{{"--requirement", "-r", true},
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
                                                {"--config-settings", "--config-setting", true}}};

/// By name, alias or an unambiguous beginning of a long name, as Python's optparse.
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

bool complain(RequirementLine& line, std::string problem, std::string hint = {}) {
  line.problem = redact_credentials(std::move(problem));
  line.hint = std::move(hint);
  return false;
}

bool refuse_unknown(RequirementLine& line, std::string_view name) {
  std::vector<std::string> names;
  std::transform(known_options.begin(), known_options.end(), std::back_inserter(names),
                 [](const auto& o) { return std::string{o.name}; });
  const auto near = nearest(name, names);
  return complain(line,
                  fmt::format("pip knows no option `{}` in a requirements file", printable(name)),
                  near ? fmt::format("did you mean `{}`?", *near) : std::string{});
}

/// Reads the option at `words[at]` and moves `at` past it; false when it is wrong.
bool read_option(RequirementLine& line, const std::vector<std::string>& words, std::size_t& at) {
  const std::string& word = words[at++];
  const bool is_long = word.starts_with("--");
  const auto equals = is_long ? word.find('=') : std::string::npos;
  const std::string name = is_long ? word.substr(0, equals) : word.substr(0, 2);
  const Option* option = find_option_named(name);
  if (option == nullptr) {
    return refuse_unknown(line, name);
  }
  std::optional<std::string> value;
  if (equals != std::string::npos) {
    value = word.substr(equals + 1);
  } else if (!is_long && word.size() > 2) {
    value = word.substr(2);
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

/// As pip: the first blank-separated token with a dash starts the options.
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
  line.requirement = trim(content.substr(0, begin));
  const auto words = split_words(content.substr(begin));
  if (!words) {
    line.problem = "a quote is not closed";
    return;
  }
  for (std::size_t at = 0; at < words->size();) {
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
  return c == ' ' || c == '\t' || c == '\f' || c == '\v';
}

/// Where a comment starts: `#` at the beginning or after white space.
std::size_t comment_start(std::string_view line) {
  for (auto at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || is_blank(line[at - 1])) {
      return at;
    }
  }
  return std::string_view::npos;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find_first_of("\r\n");
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      break;
    }
    text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
  }
  return lines;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) {
    text += static_cast<char>(static_cast<unsigned char>(byte));
  };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | code >> 6U);
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | code >> 12U);
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | code >> 18U);
    put(0x80U | (code >> 12U & 0x3FU));
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

/// After its byte order mark. Unpaired surrogates become U+FFFD.
std::string decode_utf16(std::string_view bytes, bool big_endian) {
  const auto unit = [&](std::size_t at) -> std::uint32_t {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const auto second = static_cast<unsigned char>(bytes[at + 1]);
    return big_endian ? static_cast<std::uint32_t>(first << 8U | second)
                      : static_cast<std::uint32_t>(second << 8U | first);
  };
  std::string text;
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    std::uint32_t code = unit(at);
    const bool high = code >= 0xD800 && code < 0xDC00;
    if (high && at + 3 < bytes.size() && unit(at + 2) >= 0xDC00 && unit(at + 2) < 0xE000) {
      code = 0x10000U + ((code - 0xD800U) << 10U) + (unit(at + 2) - 0xDC00U);
      at += 2;
    } else if (code >= 0xD800 && code < 0xE000) {
      code = 0xFFFD;
    }
    append_utf8(text, code);
  }
  return text;
}

/// The encoding of a PEP 263 coding line among the first two; empty when there is none.
std::string declared_encoding(const std::vector<std::string_view>& lines) {
  for (std::size_t i = 0; i < std::min<std::size_t>(2, lines.size()); ++i) {
    const auto line = lines[i];
    const auto at = line.find("coding");
    if (!line.starts_with('#') || at == std::string_view::npos || at + 7 > line.size() ||
        (line[at + 6] != ':' && line[at + 6] != '=')) {
      continue;
    }
    const auto name = trim(line.substr(at + 7));
    return to_lower(name.substr(0, name.find_first_of(" \t*")));
  }
  return {};
}

/// RFC 3629, overlong forms and surrogates refused.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) -> unsigned {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xC2 && first < 0xE0 ? 2
                               : first >= 0xE0 && first < 0xF0 ? 3
                               : first >= 0xF0 && first < 0xF5 ? 4
                                                               : 0;
    const unsigned second = byte(i + 1);
    const bool bad_second = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                            (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    if (length == 0 || (length > 1 && bad_second)) {
      return false;
    }
    for (std::size_t j = 1; j < length; ++j) {
      if (byte(i + j) >> 6U != 0b10) {
        return false;
      }
    }
    i += length;
  }
  return true;
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

DecodedText decode_requirements(std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) {
    bytes.remove_prefix(3);
  } else if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) {
    return {decode_utf16(bytes.substr(2), bytes.front() == '\xfe'), 0, {}};
  }
  const auto lines = split_lines(bytes);
  const std::string encoding = declared_encoding(lines);
  static constexpr std::array<std::string_view, 5> latin{"latin-1", "latin1", "iso-8859-1",
                                                         "iso8859-1", "l1"};
  if (std::find(latin.begin(), latin.end(), encoding) != latin.end()) {
    std::string text;
    for (const char c : bytes) {
      append_utf8(text, static_cast<unsigned char>(c));
    }
    return {std::move(text), 0, {}};
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!is_utf8(lines[i])) {
      return {{}, static_cast<int>(i) + 1, "it is not UTF-8"};
    }
    if (lines[i].find('\0') != std::string_view::npos) {
      return {{}, static_cast<int>(i) + 1, "it holds a zero byte, so it is no text"};
    }
  }
  return {std::string{bytes}, 0, {}};
}

std::vector<RequirementLine> split_requirements(std::string_view text) {
  std::vector<RequirementLine> result;
  const auto lines = split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    RequirementLine line;
    line.first = static_cast<int>(i) + 1;
    std::string content;
    // A comment ends a continued line, and a backslash at its end continues nothing.
    while (lines[i].ends_with('\\') &&
           comment_start(lines[i]) != lines[i].find_first_not_of(" \t") && i + 1 < lines.size()) {
      content += lines[i].substr(0, lines[i].find_last_not_of('\\') + 1);
      ++i;
    }
    const bool is_comment = comment_start(lines[i]) == lines[i].find_first_not_of(" \t") &&
                            comment_start(lines[i]) != std::string_view::npos;
    content += (is_comment ? " " : "") + std::string{lines[i]};
    if (!is_comment && content.ends_with('\\')) {
      content.resize(content.find_last_not_of('\\') + 1);
    }
    line.last = static_cast<int>(i) + 1;
    const std::string_view bare = trim(std::string_view{content}.substr(0, comment_start(content)));
    if (!bare.empty()) {
      split_options(line, bare);
      result.push_back(std::move(line));
    }
  }
  return result;
}

std::vector<std::string> variables_of(std::string_view text) {
  std::vector<std::string> names;
  for (auto at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 2)) {
    const auto end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at + 2);
    if (end != std::string_view::npos && text[end] == '}' && end > at + 2) {
      names.emplace_back(text.substr(at + 2, end - at - 2));
    }
  }
  return names;
}

}  // namespace autopack::project
