#pragma once

#include "build/wheels/own_package.hpp"
#include "build/wheels/wheel_source.hpp"
#include "index/wheel_cache.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"
#include "python/interpreter.hpp"
#include "services/services.hpp"

#include <optional>
#include <string>

namespace autopack::build {

/// Installs the own packages of `work` by their build. Caches the files that this writes, and the
/// record of what it reads. All arguments must outlive it.
class InstalledPackages {
public:
  InstalledPackages(Services& services,
                    const packaging::Packaging& work,
                    const index::WheelCache& wheels);

  /// Returns nothing if they were not installed yet, or from other files.
  std::optional<OwnPackage> find(const python::Interpreter& interpreter) const;

  /// Throws as `install_own` does, and Error(project) if it leaves no metadata.
  OwnPackage install(const InstallOwn& install_own, const python::Interpreter& interpreter) const;

private:
  void describe(OwnPackage& own, const python::Interpreter& interpreter) const;

  Services& services_;
  const packaging::Packaging& work_;
  const index::WheelCache& wheels_;
  std::string key_;
};

/// Returns the project's own package in the form of a lock's. `place` is the file that describes
/// it.
lock::LockedPackage own_locked_package(const std::string& name,
                                       const std::string& version,
                                       const std::string& place);

}  // namespace autopack::build
