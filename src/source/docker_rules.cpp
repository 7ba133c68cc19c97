#include "source/docker_rules.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "source/pattern.hpp"

#include <algorithm>

namespace autopack::source {

namespace {

/// Consumes `[...]` from `rest` and appends docker's equivalent; returns false if there is none.
bool translate_set(std::string_view& rest, std::string& line) {
  rest.remove_prefix(1);
  const bool is_inverted = rest.starts_with('!') || rest.starts_with('^');
  rest.remove_prefix(is_inverted ? 1 : 0);
  line += is_inverted ? "[^" : "[";
  for (bool first = true; first || !rest.starts_with(']'); first = false) {
    if (rest.empty() || rest.starts_with("[:")) {
      return false;
    }
    const bool is_escaped = rest.starts_with('\\') && rest.size() > 1;
    rest.remove_prefix(is_escaped ? 1 : 0);
    const char c = rest.front();
    const bool is_sign = std::string_view{"][^*?\\"}.find(c) != std::string_view::npos;
    line += is_sign || (is_escaped && c == '-') ? std::string{'\\', c} : std::string{c};
    rest.remove_prefix(1);
  }
  rest.remove_prefix(1);
  line += ']';
  return true;
}

bool is_space(char c) {
  return std::string_view{" \t\v\f"}.find(c) != std::string_view::npos;
}

/// Puts white space at both ends of `line`, and a leading byte order mark, in brackets: docker
/// would strip them.
std::string keep_ends(std::string_view line) {
  std::string_view core = trim_unicode(line);
  if (core.starts_with(byte_order_mark)) {
    core.remove_prefix(byte_order_mark.size());
  }
  const std::size_t begin = core.empty() ? 0 : static_cast<std::size_t>(core.data() - line.data());
  std::string kept;
  for (std::size_t at = 0; at < line.size();) {
    if (at == begin && !core.empty()) {
      kept += core;
      at += core.size();
      continue;
    }
    const std::size_t size = std::max<std::size_t>(utf8_length(line.substr(at)), 1);
    kept.append("[").append(line.substr(at, size)).append("]");
    at += size;
  }
  return kept;
}

/// Translates the body of a pattern; returns an empty text if docker cannot express it.
std::string translate(std::string_view rest) {
  std::string line;
  for (bool after_slash = true; !rest.empty();) {
    const char c = rest.front();
    if (c == '[') {
      if (!translate_set(rest, line)) {
        return {};
      }
      after_slash = false;
      continue;
    }
    rest.remove_prefix(1);
    if (c == '*') {
      const auto stars = std::min(rest.find_first_not_of('*'), rest.size());
      rest.remove_prefix(stars);
      const bool is_whole = stars > 0 && after_slash && (rest.empty() || rest.starts_with('/'));
      line += is_whole ? "**" : "*";
    } else if (c == '\\') {
      if (rest.empty()) {
        return {};
      }
      line += is_space(rest.front())                    ? std::string{'[', rest.front(), ']'}
              : is_alphanumeric(rest.substr(0, 1), "/") ? std::string{rest.front()}
                                                        : std::string{'\\', rest.front()};
      rest.remove_prefix(1);
    } else if (std::string_view{"|{}^"}.find(c) != std::string_view::npos) {
      line += {'\\', c};
    } else {
      line += c;
    }
    after_slash = c == '/';
  }
  return keep_ends(line);
}

bool is_read_by_docker(const std::string& line) {
  try {
    return Pattern::parse(line).has_value();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string docker_path(std::string_view path) {
  std::string line;
  for (const char c : path) {
    const bool is_first_sign = line.empty() && (c == '#' || c == '!');
    if (c == '\n' || c == '\r') {
      line += '?';  // a line cannot contain it
    } else {
      if (is_first_sign || std::string_view{"*?[\\|{}^"}.find(c) != std::string_view::npos) {
        line += '\\';
      }
      line += c;
    }
  }
  return keep_ends(line);
}

std::string docker_rules(const GitIgnoreFile& rules, std::string_view directory) {
  const std::string base = directory.empty() ? std::string{} : docker_path(directory) + "/";
  std::string text;
  for (const GitPattern& pattern : rules.patterns()) {
    const std::string body = translate(pattern.body());
    if (body.empty()) {
      continue;
    }
    const bool is_sign =
        pattern.is_anchored() && base.empty() && (body.starts_with('#') || body.starts_with('!'));
    const std::string line = (pattern.is_exception() ? "!" : "") + base +
                             (pattern.is_anchored() ? "" : "**/") + (is_sign ? "\\" : "") + body;
    if (is_read_by_docker(line)) {
      text += line + "\n";
    }
  }
  return text;
}

}  // namespace autopack::source
