#include "python/requirement.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "python/archive_name.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace autopack::python {

namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool is_name_character(char c) {
  return is_word(c) || c == '-' || c == '_' || c == '.';
}

/// Returns the name at the front of `text`; empty if there is none.
std::string_view leading_name(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_name_character(text[end])) {
    ++end;
  }
  while (end > 0 && !is_word(text[end - 1])) {
    --end;
  }
  return end > 0 && is_word(text.front()) ? text.substr(0, end) : std::string_view{};
}

Requirement refuse(std::string problem, std::optional<std::string> hint = {}) {
  Requirement result;
  result.kind = Requirement::Kind::malformed;
  result.problem = redact_credentials(std::move(problem));
  if (hint) {
    result.hint = redact_credentials(std::move(*hint));
  }
  return result;
}

/// Splits a path into the part before a trailing `[a,b]`, and the extras.
std::pair<std::string_view, std::vector<std::string>> split_path_extras(std::string_view path) {
  std::vector<std::string> extras;
  const auto open = path.rfind('[');
  if (!path.ends_with(']') || open == std::string_view::npos || open == 0) {
    return {path, extras};
  }
  for (const auto& extra : split(path.substr(open + 1, path.size() - open - 2), ',')) {
    if (const auto name = trim(extra); !name.empty()) {
      extras.push_back(normalise_name(name));
    }
  }
  return {trim(path.substr(0, open)), extras};
}

bool is_url(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) {
    return false;
  }
  const auto scheme = to_lower(text.substr(0, colon));
  static constexpr std::array schemes{"http", "https", "file", "ftp"};
  static constexpr std::array vcs{"git", "hg", "svn", "bzr"};
  return contains(schemes, scheme) || contains(vcs, scheme.substr(0, scheme.find('+')));
}

bool looks_like_path(std::string_view text) {
  return text.starts_with('.') || text.find('/') != std::string_view::npos ||
         is_archive_name(split_path_extras(text).first);
}

Requirement local(std::string_view path) {
  Requirement result;
  result.kind = Requirement::Kind::path;
  const auto [target, extras] = split_path_extras(trim(path));
  if (target.empty()) {
    return refuse("a `file:` URL without a path");
  }
  if (target.find("://") != std::string_view::npos) {
    return refuse(fmt::format("`{}` is neither a requirement, a path nor a URL", printable(path)));
  }
  result.target = target;
  result.extras = extras;
  return result;
}

/// Returns the URL for `git@host:path`, which only git reads, as `git+git@host:path` or with a
/// scheme before it; nothing for a real URL.
std::optional<std::string> url_of_scp_form(std::string_view text) {
  constexpr std::string_view over_ssh{"git+ssh://"};
  auto where = text.substr(std::min(text.find('+') + 1, text.size()));
  const bool has_scheme = text.starts_with(over_ssh);
  if (has_scheme) {
    where = text.substr(over_ssh.size());
  } else if (!text.starts_with("git+") || where.find("://") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto host = where.substr(0, where.find('/'));
  const auto colon = host.rfind(':');
  const auto sign = host.find('@');
  if (sign != std::string_view::npos && host.find(':') < sign) {
    return std::nullopt;  // a password
  }
  if (colon == std::string_view::npos || host.ends_with(']') || !variables_of(host).empty() ||
      host.substr(colon + 1).find_first_not_of("0123456789") == std::string_view::npos) {
    return std::nullopt;
  }
  return fmt::format("{}{}/{}", over_ssh, where.substr(0, colon), where.substr(colon + 1));
}

Requirement address(std::string_view text) {
  if (const auto url = url_of_scp_form(trim(text))) {
    return refuse(fmt::format("`{}` is not a URL: the text between a colon and the next slash is "
                              "a port",
                              redact_credentials(printable(trim(text)))),
                  fmt::format("write `{}`", redact_credentials(printable(*url))));
  }
  if (!to_lower(text.substr(0, 5)).starts_with("file:")) {
    Requirement result;
    result.kind = Requirement::Kind::url;
    result.target = trim(text);
    return result;
  }
  std::string_view path = text.substr(5);
  path = path.substr(0, path.find('#'));
  if (path.starts_with("//")) {
    path.remove_prefix(2);
    if (to_lower(path).starts_with("localhost/")) {
      path.remove_prefix(std::string_view{"localhost"}.size());
    }
  }
  return local(percent_decode(path));
}

/// Returns a version condition list such as `>=1,<2` without white space; nothing if it is invalid.
std::optional<std::string> check_conditions(std::string_view text) {
  std::string compact;
  std::ranges::copy_if(text, std::back_inserter(compact),
                       [](char c) { return c != ' ' && c != '\t'; });
  if (compact.starts_with('(') && compact.ends_with(')')) {
    compact = compact.substr(1, compact.size() - 2);
  }
  if (compact.empty()) {
    return compact;
  }
  static constexpr std::array<std::string_view, 8> operators{
      "===", "~=", "==", "!=", "<=", ">=", "<", ">"};
  auto conditions = split(compact, ',');
  if (conditions.size() > 1 && conditions.back().empty()) {
    conditions.pop_back();
  }
  for (const auto& condition : conditions) {
    const auto* const used = std::ranges::find_if(
        operators, [&](std::string_view op) { return condition.starts_with(op); });
    if (used == operators.end() || condition.size() == used->size()) {
      return std::nullopt;
    }
    const bool any = *used == "===";
    const bool good = std::all_of(
        condition.begin() + static_cast<std::ptrdiff_t>(used->size()), condition.end(),
        [&](char c) { return any || is_name_character(c) || c == '*' || c == '+' || c == '!'; });
    if (!good) {
      return std::nullopt;
    }
  }
  return join(conditions, ",");
}

bool marker_is_plausible(std::string_view marker) {
  char quote = '\0';
  int depth = 0;
  for (const char c : marker) {
    if (quote != '\0') {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == ')') {
      depth += c == '(' ? 1 : -1;
    }
    if (depth < 0) {
      return false;
    }
  }
  const bool compares = marker.find_first_of("=<>~") != std::string_view::npos ||
                        marker.find(" in ") != std::string_view::npos ||
                        marker.find(" in'") != std::string_view::npos ||
                        marker.find(" in\"") != std::string_view::npos;
  return quote == '\0' && depth == 0 && compares;
}

/// Splits `text` at the `;` that starts the marker; URLs need white space before it.
std::pair<std::string_view, std::optional<std::string_view>> split_marker(std::string_view text,
                                                                          bool url) {
  for (auto at = text.find(';'); at != std::string_view::npos; at = text.find(';', at + 1)) {
    if (!url || (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) ||
        (at + 1 < text.size() && text[at + 1] == ' ')) {
      return {trim(text.substr(0, at)), trim(text.substr(at + 1))};
    }
  }
  return {trim(text), std::nullopt};
}

/// Returns a hint for a command line such as `pip install rich` in place of a requirement; nothing
/// for other texts.
std::optional<std::string> without_command(std::string_view text) {
  static constexpr std::array<std::string_view, 5> commands{
      "pip install ", "pip3 install ", "uv pip install ", "uv add ", "conda install "};
  for (const auto command : commands) {
    if (const auto rest = trim(text.substr(std::min(command.size(), text.size())));
        text.starts_with(command) && !rest.empty()) {
      return fmt::format("write `{}`, without `{}`", printable(rest), trim(command));
    }
  }
  return std::nullopt;
}

/// Parses the text after the name: extras, then `@ url` or conditions.
Requirement read_name(std::string_view text) {
  const auto name = leading_name(text);
  if (name.empty() && text.starts_with("${") && !variables_of(text).empty()) {
    Requirement unknown;
    unknown.rest = text;
    return unknown;
  }
  if (name.empty()) {
    return refuse(fmt::format("`{}` does not start with the name of a package", printable(text)));
  }
  Requirement result;
  result.name = normalise_name(name);
  auto rest = trim(text.substr(name.size()));
  if (rest.starts_with('[')) {
    const auto close = rest.find(']');
    if (close == std::string_view::npos) {
      return refuse(fmt::format("`{}` has no `]`", printable(text)));
    }
    for (const auto& part : split(rest.substr(1, close - 1), ',')) {
      const auto extra = trim(part);
      const bool none_at_all = extra.empty() && trim(rest.substr(1, close - 1)).empty();
      if (!none_at_all && (extra.empty() || leading_name(extra).size() != extra.size())) {
        return refuse(fmt::format("`{}` has a malformed list of extras", printable(text)));
      }
      if (!extra.empty()) {
        result.extras.push_back(normalise_name(extra));
      }
    }
    std::ranges::sort(result.extras);
    rest = trim(rest.substr(close + 1));
  }
  if (rest.starts_with('@')) {
    const auto where = trim(rest.substr(1));
    if (where.empty()) {
      return refuse(fmt::format("`{}` names no URL after `@`", printable(text)));
    }
    Requirement target = is_url(where) ? address(where) : local(where);
    target.name = result.name;
    target.extras.insert(target.extras.end(), result.extras.begin(), result.extras.end());
    return target;
  }
  const auto conditions = check_conditions(rest);
  if (conditions || !variables_of(rest).empty()) {
    result.rest = conditions.value_or(std::string{rest});
    return result;
  }
  if (rest.starts_with('=') && !rest.starts_with("==")) {
    return refuse(fmt::format("`{}`: `=` is not a version operator", printable(text)),
                  fmt::format("did you mean `{}={}`?", name, rest));
  }
  return refuse(fmt::format("`{}` is not a requirement: cannot read `{}` after the name",
                            printable(text), printable(rest)),
                without_command(text));
}

/// Matches `name @ url` and `name[extra] @ url`.
bool has_at_form(std::string_view text) {
  const auto name = leading_name(text);
  auto after = trim(text.substr(name.size()));
  if (after.starts_with('[')) {
    const auto close = after.find(']');
    after = close == std::string_view::npos ? std::string_view{} : trim(after.substr(close + 1));
  }
  return !name.empty() && after.starts_with('@');
}

}  // namespace

Requirement parse_requirement(std::string_view text) {
  text = trim(text);
  if (text.empty()) {
    return refuse("an empty requirement");
  }
  const bool at_form = has_at_form(text);
  const auto [body, marker] = split_marker(text, is_url(text));
  const bool is_known = marker && !marker->empty() && variables_of(*marker).empty();
  if (is_known && !marker_is_plausible(*marker)) {
    return refuse(fmt::format("`{}` has a malformed marker after `;`", printable(text)));
  }
  Requirement result;
  if (at_form) {
    result = read_name(body);
  } else if (is_url(body)) {
    result = address(body);
  } else {
    result = looks_like_path(body) ? local(body) : read_name(body);
  }
  if (marker && !marker->empty()) {
    result.marker = *marker;
  }
  return result;
}

std::string normalised(const Requirement& requirement) {
  std::string text = requirement.name.value_or("");
  if (!requirement.extras.empty() && requirement.kind != Requirement::Kind::path) {
    text += "[" + join(requirement.extras, ",") + "]";
  }
  if (requirement.kind == Requirement::Kind::named) {
    const auto& rest = requirement.rest;
    // As written, with `${NAME}`, it may begin with a character that would extend the name.
    text += (!rest.empty() && is_name_character(rest.front()) ? " " : "") + rest;
  } else {
    text += (text.empty() ? "" : " @ ") + redact_credentials(requirement.target);
  }
  if (!requirement.extras.empty() && requirement.kind == Requirement::Kind::path) {
    text += "[" + join(requirement.extras, ",") + "]";
  }
  if (requirement.marker) {
    text += "; ";
    bool space = false;
    for (const char c : *requirement.marker) {
      const bool is_space = c == ' ' || c == '\t';
      if (!is_space || !space) {
        text += is_space ? ' ' : c;
      }
      space = is_space;
    }
  }
  return text;
}

WrittenRequirement::WrittenRequirement(std::string written)
    : text{std::move(written)}, parts{parse_requirement(text)} {}

std::vector<std::string> texts_of(const std::vector<WrittenRequirement>& requirements) {
  std::vector<std::string> texts;
  texts.reserve(requirements.size());
  for (const auto& requirement : requirements) {
    texts.push_back(requirement.text);
  }
  return texts;
}

}  // namespace autopack::python
