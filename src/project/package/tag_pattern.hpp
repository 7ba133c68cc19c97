#pragma once

#include "python/version.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// How tags contain versions: the prefix before them.
class TagPattern {
public:
  /// Returns the pattern of setuptools-scm without settings: `v1.2`, `1.2`, `name-1.2`.
  static TagPattern any_name();
  /// Returns the pattern with exactly `prefix` before the version.
  static TagPattern after(std::string prefix);
  /// Parses a Python regular expression that consists of a literal prefix with optional parts, and
  /// the group of the version; returns nothing for any other.
  static std::optional<TagPattern> from_regexp(std::string_view regexp);

  /// Returns the version in `tag`; nothing if it contains none.
  std::optional<python::Version> version_of(std::string_view tag) const;

private:
  bool any_name_{false};
  std::vector<std::string> prefixes_{};  ///< longest first
};

}  // namespace autopack::project
