#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// One requirement as pip sorts it: a name with conditions, a URL, or a local path.
struct Requirement {
  enum class Kind { named, url, path, malformed };

  Kind kind{Kind::named};
  std::string name{};    ///< normalised (PEP 503); of `name @ url` too; may be empty
  std::string target{};  ///< url: the URL; path: the path, without extras
  std::vector<std::string> extras{};
  std::string rest{};     ///< version conditions without white space; with `${NAME}`, as written
  std::string marker{};   ///< after `;`
  std::string problem{};  ///< malformed: what is wrong, in words; never holds a credential
  std::string hint{};     ///< malformed: the remedy; may be empty
};

/// Sorts and cheaply checks (PEP 508) one requirement without its options. `trainer/x.whl` is a
/// path, `x.whl` too; whether it exists is not asked.
Requirement parse_requirement(std::string_view text);

/// The canonical text: equal for requirements that differ in white space and spelling only;
/// credentials are left out.
std::string normalised(const Requirement& requirement);

}  // namespace autopack::project
