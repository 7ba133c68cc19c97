#pragma once

#include "build/wheels/built_wheels.hpp"
#include "build/wheels/package_index.hpp"
#include "build/wheels/wheel_source.hpp"
#include "packaging/packaging.hpp"
#include "python/interpreter.hpp"
#include "resolve/resolver.hpp"
#include "services/services.hpp"
#include "wheel/texts.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// Finds out what packages without a wheel require: from their files if these are enough, else by a
/// build, once, whose wheel is then installed. Arguments must outlive it.
class SourceReader {
public:
  /// Nothing is built if `build` is empty.
  SourceReader(Services& services,
               const packaging::Packaging& work,
               std::shared_ptr<PackageIndex> index,
               const BuildWheel& build);

  /// Returns the `Requires-Dist` lines of a source distribution in an index; nothing if that has no
  /// such version, or if there is no engine to build it. Throws as the build does.
  std::optional<std::vector<std::string>> requirements(const std::string& name,
                                                       const std::string& version) const;

  /// Returns the metadata of those packages of `lock` that have one of `names`, in this order:
  /// commits, directories and archives. Nothing if one is missing or cannot be built here. Throws
  /// as the build does.
  std::optional<std::vector<resolve::SourceMetadata>> metadata_of(
      const std::string& lock,
      const std::vector<std::string>& names,
      const python::Interpreter& interpreter) const;

private:
  std::optional<wheel::Metadata> metadata_of(const std::string& name,
                                             const WheelSource& source) const;

  Services& services_;
  const packaging::Packaging& work_;
  std::shared_ptr<PackageIndex> index_;
  BuiltWheels built_;
};

}  // namespace autopack::build
