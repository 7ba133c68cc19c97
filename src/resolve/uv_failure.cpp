#include "resolve/uv_failure.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "python/requirement.hpp"
#include "resolve/resolver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::resolve {

namespace {

/// Returns true for a line of uv's explanation that advises an option of uv's own.
bool is_about_uv(std::string_view line) {
  return line.find("--") != std::string_view::npos || line.find("uv ") != std::string_view::npos;
}

/// Returns what uv tried to build: `docopt==0.6.2`, or words for a local package; nothing if `text`
/// reports something else.
std::optional<std::string> source_to_build(const std::string& text) {
  constexpr std::string_view begin{"Failed to build `"};
  if (const auto at = text.find(begin); at != std::string::npos) {
    const auto name = at + begin.size();
    return text.substr(name, text.find('`', name) - name);
  }
  return text.find("The build backend returned an error") != std::string::npos
             ? std::optional<std::string>{BuildNeeded::unnamed}
             : std::nullopt;
}

/// Returns the text between `begin` and `end` in `text`; nothing if one of them is missing.
std::optional<std::string_view> between(std::string_view text,
                                        std::string_view begin,
                                        std::string_view end) {
  const auto at = text.find(begin);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(at + begin.size());
  const auto stop = text.find(end);
  return stop == std::string_view::npos ? std::nullopt : std::optional{text.substr(0, stop)};
}

/// Returns `3.11` for the tag `cp311`, also with flags; nothing for another tag.
std::optional<std::string> python_of_tag(std::string_view tag) {
  constexpr std::size_t major{2};  // after `cp`
  auto end = major;
  while (end < tag.size() && is_digit(tag[end])) {
    ++end;
  }
  return tag.starts_with("cp") && end > major + 1
             ? std::optional{fmt::format("{}.{}", tag[major],
                                         tag.substr(major + 1, end - major - 1))}
             : std::nullopt;
}

/// Returns the remedy for uv's hint that a version has wheels for other Pythons only, with these;
/// nothing for another hint.
std::optional<std::string> remedy_with_pythons(std::string_view hint) {
  const auto name = between(hint, "only found wheels for `", "`");
  const auto version = between(hint, "` (v", ")");
  constexpr std::string_view begin{"Python ABI tags: "};
  const auto tags = hint.find(begin);
  if (!name || !version || tags == std::string_view::npos) {
    return std::nullopt;
  }
  std::vector<std::string> pythons;
  for (const auto& word : split(hint.substr(tags + begin.size()), ',')) {
    auto python = python_of_tag(between(word, "`", "`").value_or(""));
    if (!python) {
      return std::nullopt;
    }
    if (!contains(pythons, *python)) {
      pythons.push_back(*std::move(python));
    }
  }
  return fmt::format("take an executor image with Python {}, for which `{}` {} has wheels",
                     join(pythons, " or "), printable(*name), printable(*version));
}

/// Returns the remedy for uv's hint that only a later index has a version that fits; nothing for
/// another hint.
std::optional<std::string> remedy_with_indexes(std::string_view hint) {
  const auto name = between(hint, "`", "` was found on ");
  return name && hint.find("index-strategy") != std::string_view::npos
             ? std::optional{fmt::format(
                   "the first index that has `{}` decides; `index-strategy = "
                   "\"unsafe-best-match\"` in `[tool.uv]` takes the best version of all",
                   printable(*name))}
             : std::nullopt;
}

/// Throws the explanation of git, whose last words are the reason.
[[noreturn]] void throw_git_failure(const std::string& text) {
  constexpr std::string_view fatal{"fatal: "};
  const auto fetched = between(text, "--update-head-ok '", "'");
  const auto url = fetched ? fetched : between(text, "git+", "`");
  if (text.find("Git executable not found") != std::string::npos) {
    throw Error(ErrorKind::environment,
                fmt::format("`{}` cannot be fetched: there is no git on this machine",
                            printable(url.value_or("a repository"))))
        .hint("install git");
  }
  Error error{ErrorKind::project,
              fmt::format("could not fetch `{}`", printable(url.value_or("a repository")))};
  if (const auto at = text.rfind(fatal); at != std::string::npos) {
    const auto end = std::min(text.find('\n', at), text.size());
    error.cause("git: " + printable(trim(text.substr(at + fatal.size(), end - at - fatal.size()))));
  }
  if (fetched) {
    error.hint(
        fmt::format("`git ls-remote {}` shows whether this machine may read it", printable(*url)));
  }
  throw error;
}

/// Returns `https://host/simple/rich/: failed to look up the host` for the failure of an index,
/// whose causes `causes` are nested; nothing if they have another form.
std::optional<std::string> failure_of_index(const std::vector<std::string>& causes) {
  constexpr std::string_view begin{"Failed to fetch: "};
  const auto found = std::ranges::find_if(
      causes, [&](const std::string& cause) { return cause.starts_with(begin); });
  if (found == causes.end() || found + 1 == causes.end()) {
    return std::nullopt;
  }
  return fmt::format("{}: {}", replace_all(found->substr(begin.size()), "`", ""), causes.back());
}

}  // namespace

void throw_uv_failure(const ProcessResult& result, const std::filesystem::path& project) {
  auto text = replace_all(redact_credentials(result.errors), project.string() + "/", "");
  text = replace_all(text, fmt::format("{} depends on ", project_of_requirements), "you require ");
  std::string message;
  std::vector<std::string> causes;
  std::vector<std::string> hints;
  auto* current = &causes;
  for (const auto& whole : split(text, '\n')) {
    std::string line{trim(whole)};
    if (line.starts_with("error: ")) {
      message = line.substr(std::string_view{"error: "}.size());
    } else if (line.starts_with("cause: ")) {
      current = &causes;
      causes.push_back(line.substr(std::string_view{"cause: "}.size()));
    } else if (line.starts_with("hint: ")) {
      current = &hints;
      hints.push_back(line.substr(std::string_view{"hint: "}.size()));
    } else if (!line.empty() && !current->empty() && !line.starts_with("warning: ")) {
      current->back() += " " + line;
    }
  }
  if (auto source = source_to_build(text)) {
    BuildNeeded error{*source};
    error.hint("require a version that has a wheel, or list the dependencies in pyproject.toml");
    throw error;
  }
  if (text.find("Git operation failed") != std::string::npos) {
    throw_git_failure(text);
  }
  const bool is_remote = text.find("Failed to fetch") != std::string::npos ||
                         text.find("Request failed") != std::string::npos;
  Error error{is_remote ? ErrorKind::remote : ErrorKind::project,
              is_remote ? "an index failed while the requirements were resolved"
                        : "the requirements cannot be resolved"};
  if (const auto index = is_remote ? failure_of_index(causes) : std::nullopt) {
    throw std::move(error).cause(printable(*index));
  }
  if (!message.empty() && message != "No solution found when resolving dependencies") {
    error.cause(printable(message));
  }
  for (const auto& cause : causes) {
    error.cause(printable(cause));
  }
  for (const auto& hint : hints) {
    if (const auto remedy = remedy_with_pythons(hint)) {
      error.hint(*remedy);
    } else if (const auto of_indexes = remedy_with_indexes(hint)) {
      error.hint(*of_indexes);
    } else if (!is_about_uv(hint)) {
      error.hint(printable(hint.substr(0, hint.find(" Consider using `"))));  // a setting of uv
    }
  }
  if (message.empty() && causes.empty()) {
    throw Error(ErrorKind::environment,
                fmt::format("uv ended with status {} and printed nothing", result.status));
  }
  throw error;
}

std::vector<MissingExtra> missing_extras_in(const std::string& errors) {
  std::vector<MissingExtra> missing;
  for (const auto& line : split(errors, '\n')) {
    const auto package = between(line, "warning: The package `", "` does not have an extra named ");
    const auto extra = between(line, "does not have an extra named `", "`");
    if (package && extra) {
      const auto parts = python::parse_requirement(*package);
      missing.push_back({.name = parts.name.value_or(std::string{*package}),
                         .version = parts.rest.substr(std::min(parts.rest.size(), std::size_t{2})),
                         .extra = std::string{*extra}});
    }
  }
  return missing;
}

}  // namespace autopack::resolve
