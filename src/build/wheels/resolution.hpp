#pragma once

#include "build/wheels/own_package.hpp"
#include "build/wheels/wheel_source.hpp"
#include "executor/python_facts.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// How to choose versions for a lock.
struct LockChoice {
  std::optional<std::string> before{};         ///< the lock whose versions are kept
  bool upgrades{false};                        ///< chooses every version again
  std::vector<std::string> upgraded{};         ///< names whose versions are chosen again
  std::optional<std::string> exclude_newer{};  ///< ignore files uploaded after this date
  /// Builds source distributions whose dependencies only their build knows; may be empty.
  BuildWheel build{};
  FoundOwnPackage own{};  ///< for requirements that only its build knows; see find_own_package()
};

/// A lock and its summary.
struct Locked {
  std::string text{};  ///< in the format of PEP 751
  /// `numpy==2.1.0`, sorted, and for a package of the executor image `torch==2.4.0 (executor
  /// image)`: what a person compares.
  std::vector<std::string> versions{};
};

/// Returns the lock of the requirements of `work`, resolved for its executor image, whose Python
/// `facts` describe, and reports the resolution. Throws Error(project) if they cannot be resolved
/// without an engine, Error(remote) if an index fails, Error(environment) if there is no uv.
Locked resolve_requirements(Services& services,
                            const packaging::Packaging& work,
                            const executor::PythonFacts& facts,
                            const LockChoice& choice);

/// Returns why only an installation can find the versions of `work`, whose own package is `own`,
/// out; empty if uv can.
Problems obstacles_to_resolution(const packaging::Packaging& work,
                                 const executor::PythonFacts& facts,
                                 const FoundOwnPackage& own);

/// Returns the versions in a lock that resolve_requirements made, as in Locked.
std::vector<std::string> locked_versions(const std::string& text);

}  // namespace autopack::build
