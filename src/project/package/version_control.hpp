#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"
#include "project/toml.hpp"
#include "python/version.hpp"
#include "source/git.hpp"

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

/// Sets the version for setuptools-scm, and hatch-vcs.
inline constexpr std::string_view scm_variable{"SETUPTOOLS_SCM_PRETEND_VERSION"};

/// How a version is derived from the last tag if the files differ from it. Always uses 0 for the
/// number of commits since and omits their hash, so that a commit does not cause a reinstallation.
enum class VersionScheme {
  next_dev,        ///< `1.2.4.dev0` after `1.2.3`
  next_minor_dev,  ///< `1.3.0.dev0`
  semantic_dev,    ///< one of the two, depending on whether the branch is a feature's
  post_dev,        ///< `1.2.3.post1.dev0`
  post_zero_dev,   ///< `1.2.3.post0.dev0`
  post,            ///< `1.2.3.post0`
  tag,             ///< `1.2.3`
};

/// A tool that takes the project's version from git's tags, and its settings.
struct VersionControl {
  std::string tool{};    ///< `setuptools-scm`
  std::string origin{};  ///< `pyproject.toml tool.setuptools_scm`
  /// Sets the version for a build; absent: the tool reads PKG-INFO, as in a source distribution.
  std::optional<std::string> variable{};
  source::GitTagQuery tags{.match = "*[0-9]*"};
  TagPattern pattern{TagPattern::any_name()};
  VersionScheme scheme{VersionScheme::next_dev};
  bool counts_changes{true};                ///< a tag with changed files is not exact
  std::string untagged{"0.0"};              ///< the version before the first tag
  std::optional<std::string> fallback{};    ///< without a repository
  std::vector<std::string> not_followed{};  ///< settings that only the tool itself supports
};

/// Returns the settings of such a tool in pyproject.toml; nothing if the version does not come from
/// tags.
std::optional<VersionControl> version_control_in(const toml::table& pyproject);

/// Return setuptools-scm or pbr with its defaults, for setup.py and setup.cfg.
VersionControl setuptools_scm(std::string origin);
VersionControl pbr(std::string origin);

/// Returns the version of `tool` for `description`, before VersionScheme applies; nothing if the
/// tag contains no version.
std::optional<python::Version> version_from(const VersionControl& tool,
                                            const source::GitDescription& description);

/// Pins the version of `package` for the build, from the repository or the user's variables,
/// because git's files are not sent. Reports unsupported settings.
void pin_version(Findings& findings, const VersionSources& sources, Package& package);

}  // namespace autopack::project
