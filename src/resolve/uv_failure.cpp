#include "resolve/uv_failure.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "resolve/resolver.hpp"

#include <fmt/format.h>

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
             ? std::optional<std::string>{"a package in the project"}
             : std::nullopt;
}

/// Returns uv's hint that a package has wheels for other Pythons only, with these as versions;
/// nothing for another hint.
std::optional<std::string> pythons_with_wheels(std::string_view hint) {
  constexpr std::string_view begin{"only found wheels for `"};
  constexpr std::string_view end{"Python ABI tags: "};
  const auto name_at = hint.find(begin);
  const auto tags_at = hint.find(end);
  if (name_at == std::string_view::npos || tags_at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto found = hint.substr(name_at + begin.size(), tags_at - name_at - begin.size());
  const auto version_at = found.find("(v");
  const auto version = version_at == std::string_view::npos
                           ? std::string_view{}
                           : found.substr(version_at + 1, found.find(')') - version_at - 1);
  std::vector<std::string> pythons;
  for (const auto& word : split(hint.substr(tags_at + end.size()), ',')) {
    const auto tag = trim(word);
    std::size_t digits = 4;  // "`cp3" is before the minor version
    while (digits < tag.size() && is_digit(tag[digits])) {
      ++digits;
    }
    if (!tag.starts_with("`cp") || digits == 4 || !is_digit(tag[3])) {
      return std::nullopt;
    }
    auto python = fmt::format("{}.{}", tag[3], tag.substr(4, digits - 4));
    if (!contains(pythons, python)) {
      pythons.push_back(std::move(python));
    }
  }
  return fmt::format("`{}`{}{} has wheels for Python {}: take an executor image with that Python",
                     printable(found.substr(0, found.find('`'))), version.empty() ? "" : " ",
                     printable(version.empty() ? version : version.substr(1)), join(pythons, ", "));
}

}  // namespace

void throw_uv_failure(const ProcessResult& result, const std::filesystem::path& project) {
  const auto text = replace_all(redact_credentials(result.errors), project.string() + "/", "");
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
  const bool is_remote = text.find("Failed to fetch") != std::string::npos ||
                         text.find("Request failed") != std::string::npos;
  Error error{is_remote ? ErrorKind::remote : ErrorKind::project,
              is_remote ? "an index failed while the requirements were resolved"
                        : "the requirements cannot be resolved"};
  if (!message.empty() && message != "No solution found when resolving dependencies") {
    error.cause(printable(message));
  }
  for (const auto& cause : causes) {
    error.cause(printable(cause));
  }
  for (const auto& hint : hints) {
    if (const auto pythons = pythons_with_wheels(hint)) {
      error.hint(*pythons);
    } else if (!is_about_uv(hint)) {
      error.hint(printable(hint.substr(0, hint.find(" Consider using `"))));  // a setting of uv
    }
  }
  if (message.empty() && causes.empty()) {
    error.cause(fmt::format("uv ended with status {}", result.status));
  }
  throw error;
}

}  // namespace autopack::resolve
