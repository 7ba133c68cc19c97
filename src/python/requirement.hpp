#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::python {

/// A requirement in pip's categories: a name with conditions, a URL, or a local path.
struct Requirement {
  enum class Kind { named, url, path, malformed };

  Kind kind{Kind::named};
  std::optional<std::string> name{};  ///< normalised (PEP 503); also of `name @ url`
  std::string target{};               ///< url: the URL; path: the path, without extras
  std::vector<std::string> extras{};
  std::string rest{};  ///< version conditions without white space; with `${NAME}`, as written
  std::optional<std::string> marker{};  ///< after `;`
  std::string problem{};                ///< malformed: the error; never contains a credential
  std::optional<std::string> hint{};    ///< malformed: the remedy
};

/// Classifies and cheaply checks (PEP 508) one requirement without its options. `trainer/x.whl` is
/// a path, `x.whl` too, even if it does not exist.
Requirement parse_requirement(std::string_view text);

/// Returns the canonical text: equal for requirements that differ only in white space and spelling;
/// omits credentials.
std::string normalised(const Requirement& requirement);

/// A requirement as written, and its parts.
struct WrittenRequirement {
  WrittenRequirement(std::string written);  // NOLINT(google-explicit-constructor): parses it

  WrittenRequirement(const char* written) : WrittenRequirement{std::string{written}} {}  // NOLINT

  std::string text;
  Requirement parts;
  /// Its place, `pyproject.toml:12`, or the key of the setting that has it; empty: unknown.
  std::string origin{};
};

/// Returns the texts as written.
std::vector<std::string> texts_of(const std::vector<WrittenRequirement>& requirements);

}  // namespace autopack::python
