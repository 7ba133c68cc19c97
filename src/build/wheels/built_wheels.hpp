#pragma once

#include "base/error.hpp"
#include "build/wheels/chosen_file.hpp"
#include "build/wheels/wheel_source.hpp"
#include "index/wheel_cache.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace autopack::build {

/// Returns the inputs of a build for `work` besides its source, as one text: the executor image,
/// the platform, the time of files and the variables.
std::string inputs_of_builds(const Services& services, const packaging::Packaging& work);

/// Returns true if the archive `identity` became a wheel without a build before.
bool was_made_without_build(const Services& services, const std::string& identity);

/// A source gives another wheel here than the repository remembers. This one is cached.
class OtherWheel : public Error {
public:
  using Error::Error;
};

/// Caches the wheels of sources: made from their files alone if these are enough (see
/// static_wheel()), else built on the executor image of a plan. The key of a built wheel contains
/// the source, the image, the platform and the variables of the build.
class BuiltWheels {
public:
  /// A `policy` without a build returns only wheels that were built before.
  BuiltWheels(Services& services,
              const packaging::Packaging& work,
              index::WheelCache& wheels,
              WheelPolicy policy);

  /// Returns nothing if it has to be built, and was not built yet, its wheel is gone, or a fresh
  /// build is required. Fetches an archive to see whether it has to be built.
  std::optional<ChosenFile> find(const WheelSource& source) const;

  /// Returns the wheel that another machine built of it, as the target repository remembers it with
  /// what it requires; nothing if it does not, or if a fresh build or `--strict` is requested. The
  /// wheel itself is only in layers.
  std::optional<ChosenFile> remembered(const WheelSource& source) const;

  /// Returns the path of a remembered wheel, and builds it if it is not cached. Must not be called
  /// concurrently. Throws as build() does, OtherWheel, and Error(environment) without a build.
  std::filesystem::path file_of(const WheelSource& source, const ChosenFile& remembered) const;

  /// Returns the key and the text with which a repository remembers that `built` is the wheel of
  /// `source`.
  std::pair<std::string, std::string> fact(const WheelSource& source,
                                           const ChosenFile& built) const;

  bool can_build() const { return static_cast<bool>(policy_.build); }

  /// Builds it, even if it was built before. Throws as the build does, and Error(project) if the
  /// result is not a valid wheel.
  ChosenFile build(const WheelSource& source) const;

private:
  std::string key(const WheelSource& source) const;
  std::string remembered_key(const WheelSource& source) const;
  std::optional<ChosenFile> without_build(const WheelSource& source) const;

  Services& services_;
  index::WheelCache& wheels_;
  WheelPolicy policy_;
  bool is_strict_;
  std::string inputs_;  ///< inputs_of_builds()
};

}  // namespace autopack::build
