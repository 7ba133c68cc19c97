#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// One requirement as pip sorts it: a name with conditions, a URL, or a local path.
struct Requirement {
  enum class Kind { named, url, path, malformed };

  Kind kind{Kind::named};
  std::optional<std::string> name{};  ///< normalised (PEP 503); of `name @ url` too
  std::string target{};               ///< url: the URL; path: the path, without extras
  std::vector<std::string> extras{};
  std::string rest{};  ///< version conditions without white space; with `${NAME}`, as written
  std::optional<std::string> marker{};  ///< after `;`
  std::string problem{};  ///< malformed: what is wrong, in words; never holds a credential
  std::optional<std::string> hint{};  ///< malformed: the remedy
};

/// A requirement where it stands in a requirements file.
struct ListedRequirement {
  Requirement requirement{};           ///< of a path: from the root of the tree
  std::vector<std::string> hashes{};   ///< `sha256:...`
  std::vector<std::string> options{};  ///< names of its other options
  bool editable{false};
  bool constraint{false};
  bool hides_source{false};  ///< its URL has a login or a query, which is not in `requirement`
  std::string origin{};      ///< `requirements.txt:3`
};

/// An option of pip that stands on a line of its own in a requirements file.
struct ListedOption {
  std::string name{};
  std::string value{};  ///< without logins
  std::string origin{};
};

/// Sorts and cheaply checks (PEP 508) one requirement without its options. `trainer/x.whl` is a
/// path, `x.whl` too; whether it exists is not asked.
Requirement parse_requirement(std::string_view text);

/// The canonical text: equal for requirements that differ in white space and spelling only;
/// credentials are left out.
std::string normalised(const Requirement& requirement);

}  // namespace autopack::project
