#pragma once

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/report.hpp"
#include "index/access.hpp"
#include "python/interpreter.hpp"
#include "python/version.hpp"
#include "resolve/uv.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::resolve {

/// A distribution that the executor image has.
struct Installed {
  std::string name{};  ///< PEP 503
  std::string version{};
  std::vector<std::string> requirements{};  ///< its `Requires-Dist` lines

  bool operator==(const Installed&) const = default;
};

/// What a source distribution requires.
struct SourceMetadata {
  std::string name{};  ///< PEP 503
  std::string version{};
  std::vector<std::string> requirements{};

  bool operator==(const SourceMetadata&) const = default;
};

/// An index that a project names for uv.
struct NamedIndex {
  std::string name{};  ///< letters, digits, `-`, `_` and `.`
  std::string url{};
  bool is_explicit{false};  ///< only for packages whose source names it
  bool is_default{false};   ///< in place of the default one of the settings
  bool is_flat{false};      ///< a page of links
};

/// Requirements to resolve for one interpreter.
struct Question {
  /// Writes the requirement files, and the files that they name, below a directory. Is called again
  /// when Means gave names to sources.
  std::function<void(const std::filesystem::path& directory)> write_files{};
  std::vector<std::string> requirement_files{};  ///< relative to that directory
  std::vector<std::string> requirements{};       ///< further requirements, one line each
  std::vector<std::string> constraints{};        ///< lines
  std::vector<std::string> direct{};  ///< names (PEP 503) that the project itself requires
  python::Interpreter interpreter{};
  std::vector<Installed> installed{};   ///< of the executor image; each is kept if it may be
  bool prereleases{false};              ///< takes pre-releases as well
  std::optional<std::string> before{};  ///< a lock in the format of PEP 751: its versions are kept
                                        ///< if they may be
  std::vector<std::string> upgrades{};  ///< names (PEP 503) whose versions are chosen again
  std::optional<std::string> exclude_newer{};  ///< ignore files uploaded later: a date
  /// Read by earlier resolutions; uv fetches none of them.
  std::vector<SourceMetadata> sources_read{};
  /// If there is one for all packages, the first index that has a package decides, as for uv;
  /// otherwise the best version of all indexes wins, as for pip.
  std::vector<NamedIndex> indexes{};
  std::map<std::string, std::string> sources{};  ///< by package (PEP 503): uv's, as TOML
  std::string options{};                         ///< further lines of a uv.toml
  bool chooses_strategy{false};                  ///< `options` include `index-strategy`
};

/// A package of the executor image that another version replaces.
struct Replaced {
  Installed installed{};
  std::string version{};  ///< the new one

  bool operator==(const Replaced&) const = default;
};

/// A package of the executor image that stays, but requires another version of one that is
/// replaced.
struct Broken {
  Installed installed{};
  std::string requirement{};  ///< the one that no longer holds

  bool operator==(const Broken&) const = default;
};

/// A package that uv left far behind its newest version, although a newer one solves as well.
struct Raised {
  std::string name{};
  std::string before{};  ///< uv's first choice
  std::string version{};

  bool operator==(const Raised&) const = default;
};

/// A chosen package that is not for the interpreter.
struct Unfit {
  std::string name{};
  std::string version{};
  std::string requires_python{};        ///< `>=3.8,<3.11`
  std::vector<std::string> excluded{};  ///< its versions that are not for the interpreter
};

/// A requested extra that the chosen version of its package does not have.
struct MissingExtra {
  std::string name{};  ///< of the package (PEP 503)
  std::string version{};
  std::string extra{};

  bool operator==(const MissingExtra&) const = default;
};

/// The versions to install.
struct Resolution {
  /// `[[packages]]` of a lock in the format of PEP 751; empty if the image has everything.
  std::string packages{};
  std::size_t chosen{0};              ///< number of packages in it
  std::vector<Installed> provided{};  ///< by the image, at the resolved version; sorted
  std::vector<Replaced> replaced{};
  std::vector<Broken> broken{};
  std::vector<Raised> raised{};
  std::vector<MissingExtra> missing_extras{};
  std::vector<SourceMetadata> sources{};  ///< that were read for it, beside Question::sources_read
};

/// The means of a resolution.
struct Means {
  const Uv& uv;
  const Environment& environment;
  const index::IndexSettings& indexes;
  /// As index::Logins; for indexes whose login is in no setting.
  std::function<std::optional<Secret>(const std::string& host)> google_token{};
  /// Returns what a source distribution of an index requires, without running it; nothing if that
  /// cannot be known. May be empty.
  std::function<std::optional<std::vector<std::string>>(const std::string& name,
                                                        const std::string& version)>
      read_source{};
  /// Gives a provisional name to each source without a name in Question::write_files: returns these
  /// names. May be empty.
  std::function<std::vector<std::string>()> name_sources{};
  /// Returns the metadata of those packages of a lock that are a commit, a directory or an archive
  /// and have one of `names`, in this order; nothing if one cannot be known. Their actual names
  /// replace provisional ones. May be empty.
  std::function<std::optional<std::vector<SourceMetadata>>(const std::string& lock,
                                                           const std::vector<std::string>& names)>
      read_chosen{};
  /// Returns the newest version of a package that the interpreter can use, no pre-release; nothing
  /// if there is none. May be empty.
  std::function<std::optional<python::Version>(const std::string& name)> newest{};
  /// Returns those of `packages`, as in Resolution, that are not for the interpreter. May be empty.
  std::function<std::vector<Unfit>(const std::string& packages)> unfit{};
  Reporter* reporter{nullptr};
  const Cancellation* cancellation{nullptr};
};

/// A requirement whose dependencies only its build knows.
class BuildNeeded : public Error {
public:
  /// `source` is `docopt==0.6.2`, or words for a package without a version.
  explicit BuildNeeded(std::string source);

  const std::string& source() const { return source_; }

  /// Returns false if uv does not say which package it is.
  bool is_named() const { return source_ != unnamed; }

  static constexpr auto* unnamed = "a package in the project";

private:
  std::string source_;
};

/// Resolves `question` with uv, which runs no code of a package. The heavy frameworks of the image
/// stay unless that has no solution. A package that the project itself requires, and that uv leaves
/// far behind its newest version, is raised if that solves as well, replaces no further package of
/// the image, and leaves no other package far behind that the project itself requires. Versions
/// that are not for the interpreter are not chosen. Throws BuildNeeded if a package would have to
/// be built first, Error(project) with uv's explanation if there is no solution, Error(remote) if
/// an index fails.
Resolution resolve(const Question& question, const Means& means);

}  // namespace autopack::resolve
