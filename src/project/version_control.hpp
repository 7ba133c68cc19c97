#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"
#include "project/tag_pattern.hpp"
#include "project/toml.hpp"
#include "source/git.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// Sets the version that setuptools-scm gives, and hatch-vcs with it.
inline constexpr std::string_view scm_variable{"SETUPTOOLS_SCM_PRETEND_VERSION"};

/// How a version follows from the last tag when the files are not the tag's. The number of commits
/// since is taken for 0 and their hash is left out, so that a commit does not install anew.
enum class VersionScheme {
  next_dev,        ///< `1.2.4.dev0` after `1.2.3`
  next_minor_dev,  ///< `1.3.0.dev0`
  semantic_dev,    ///< one of the two, by whether the branch is a feature's
  post_dev,        ///< `1.2.3.post1.dev0`
  post_zero_dev,   ///< `1.2.3.post0.dev0`
  post,            ///< `1.2.3.post0`
  tag,             ///< `1.2.3`
};

/// A tool that takes the project's version from git's tags, and what its settings say.
struct VersionControl {
  std::string tool{};    ///< `setuptools-scm`
  std::string origin{};  ///< `pyproject.toml tool.setuptools_scm`
  /// Sets the version for a build; none: the tool reads PKG-INFO, as in a source distribution.
  std::optional<std::string> variable{};
  source::GitTagQuery tags{.match = "*[0-9]*"};
  TagPattern pattern{TagPattern::any_name()};
  VersionScheme scheme{VersionScheme::next_dev};
  bool counts_changes{true};                ///< changed files of a tag are not the tag's any more
  std::string untagged{"0.0"};              ///< the version that goes before the first tag
  std::optional<std::string> fallback{};    ///< where there is no repository
  std::vector<std::string> not_followed{};  ///< settings that only the tool itself can follow
};

/// What pyproject.toml says of such a tool; none when the version is not from tags.
std::optional<VersionControl> version_control_in(const toml::table& pyproject);

/// What setup.py and setup.cfg use: setuptools-scm or pbr with its defaults.
VersionControl setuptools_scm(std::string origin);
VersionControl pbr(std::string origin);

/// The version that `tool` gives where git says `description`, but for VersionScheme; none when the
/// tag says no version.
std::optional<python::Version> version_from(const VersionControl& tool,
                                            const source::GitDescription& description);

/// Pins the version of `package` for the build, as the repository or the user's variables say it:
/// git's files do not travel. What cannot be followed is told.
void pin_version(Findings& findings, const VersionSources& sources, Package& package);

}  // namespace autopack::project
