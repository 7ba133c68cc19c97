#pragma once

#include "python/version.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// How tags say versions: what stands before them.
class TagPattern {
public:
  /// As setuptools-scm reads tags that no setting tells of: `v1.2`, `1.2`, `name-1.2`.
  static TagPattern any_name();
  /// With exactly `prefix` before the version.
  static TagPattern after(std::string prefix);
  /// Reads a regular expression of Python that is a prefix of literal text, with optional parts,
  /// and the group of the version; none for any other.
  static std::optional<TagPattern> from_regexp(std::string_view regexp);

  /// The version that `tag` says; none when it says none.
  std::optional<python::Version> version_of(std::string_view tag) const;

private:
  bool any_name_{false};
  std::vector<std::string> prefixes_{};  ///< the longest first
};

}  // namespace autopack::project
