#pragma once

#include "build/wheels/package_index.hpp"
#include "lock/locked_set.hpp"
#include "lock/select.hpp"
#include "packaging/packaging.hpp"
#include "project/project.hpp"
#include "python/interpreter.hpp"
#include "python/specifier.hpp"
#include "python/version.hpp"
#include "resolve/resolver.hpp"
#include "services/services.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::build {

/// Returns true if the indexes of pip's settings decide about the package `name`. Otherwise it may
/// come from an index of `uv`, and the others, which may have a stranger's package of that name,
/// are not asked about it.
bool is_of_pip_indexes(const project::UvSettings& uv, const std::string& name);

/// The newest versions of the packages that a project requires itself.
class NewestVersions {
public:
  /// The arguments must outlive this.
  NewestVersions(PackageIndex& index,
                 const packaging::Packaging& work,
                 const python::Interpreter& interpreter,
                 const resolve::Question& question);

  /// Returns the newest final version of `name` that its requirements allow and that has a file for
  /// the interpreter; nothing if there is none.
  std::optional<python::Version> of(const std::string& name);

private:
  using Versions = std::set<python::Version, std::greater<>>;

  void add(const python::Requirement& requirement);
  bool is_allowed(const std::string& name, const python::Version& version) const;
  Versions versions_in(const std::string& name,
                       const std::vector<lock::Candidate>& candidates) const;

  PackageIndex& index_;
  lock::FileChooser files_;
  std::vector<std::string> names_;
  std::map<std::string, std::vector<python::SpecifierSet>> conditions_{};
  std::optional<std::map<std::string, std::vector<index::Candidate>>> pages_{};
};

/// The versions that are not for an interpreter by their `Requires-Python`. pip does not install
/// them; uv ignores an upper limit.
class UnfitVersions {
public:
  /// The arguments must outlive this.
  UnfitVersions(Services& services,
                PackageIndex& index,
                const project::UvSettings& uv,
                const python::Interpreter& interpreter);

  /// Returns the packages of `packages`, a part of a lock, that are not for the interpreter, each
  /// with all of its versions that are not.
  std::vector<resolve::Unfit> in(const std::string& packages);

private:
  std::optional<resolve::Unfit> judge(const lock::LockedPackage& package) const;
  std::vector<index::Candidate> page_of(const std::string& name) const;
  std::optional<std::string> published_metadata(const lock::LockedFile& file) const;
  std::optional<std::string> python_of_wheel(const lock::LockedFile& file) const;

  Services& services_;
  PackageIndex& index_;
  const project::UvSettings& uv_;
  const python::Interpreter& interpreter_;
  lock::FileChooser files_;
};

/// Returns a warning for each package of `set` that has to be built although its version has wheels
/// for other versions of Python: such a build often fails.
Problems wheels_for_other_pythons(PackageIndex& index,
                                  const project::UvSettings& uv,
                                  const lock::LockedSet& set,
                                  const python::Interpreter& interpreter);

}  // namespace autopack::build
