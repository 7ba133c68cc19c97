#pragma once

#include "packaging/comparison.hpp"
#include "packaging/image.hpp"
#include "packaging/wanted.hpp"
#include "plan/plan.hpp"
#include "state/build_record.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::packaging {

/// `--max-dependency-age` for one plan. Pinned requirements never age.
class AgeLimit {
public:
  AgeLimit(const Request& request, const project::Project& project, const plan::Plan& plan);

  /// False if there is no limit, or nothing that could age.
  bool applies() const { return applies_; }

  /// True if an installation by RUN steps at `times` exceeds the limit at `now`; all in seconds
  /// since 1970. An image without times counts as too old.
  bool is_past(std::vector<std::int64_t> times, bool is_dependency_image, std::int64_t now) const;

  /// Returns `they are older than 1 day`.
  std::string reason() const;

private:
  std::chrono::seconds limit_{0};
  bool applies_{false};
  bool installed_after_code_{false};
};

/// An image to make: what the user wants, every decision, names and keys, and the comparison with
/// the last build here. Copies share all of it.
class Packaging {
public:
  /// `before` describes the last build from the working directory; absent if there is none.
  Packaging(std::shared_ptr<const Wanted> wanted,
            plan::ReadablePlan plan,
            std::optional<state::BuildRecord> before);

  const Wanted& wanted() const { return *wanted_; }

  const Request& request() const { return wanted_->request; }

  const ScannedProject& scanned() const { return wanted_->scanned; }

  const ImageName& name() const { return wanted_->name; }

  /// The reference stays valid in copies, too.
  const plan::ReadablePlan& plan() const { return *plan_; }

  /// True if something differs from the last build here, or if there is none.
  bool is_changed() const;

  /// Computed on first use.
  const Comparison& comparison() const;

  /// Returns the key of the image last built here, or nothing.
  std::optional<std::string> key_before() const;

  /// True if something is installed or removed below the code.
  bool needs_dependencies() const { return plan_->needs_dependency_image(); }

  /// False for a user's own Dockerfile: the key does not include its base, so only a build with the
  /// builder's cache shows whether the image is the same.
  bool key_is_whole() const { return !plan_->user_dockerfile; }

  std::string key_tag() const { return packaging::key_tag(plan_->keys.value().image); }

  std::string dependency_tag() const {
    return packaging::dependency_tag(plan_->keys.value().dependencies);
  }

  /// Returns `repository:ap-<16 hex>`.
  image::Reference keyed_name() const;

  /// Returns the image's name in the engine, for `docker run`: the user's, else the keyed one.
  std::string name_in_engine() const;

  /// Returns `repository:apd-<16 hex>`.
  std::string dependency_name() const;

  AgeLimit age_limit() const { return {request(), scanned().project, plan()}; }

  /// Returns the image with only its names.
  Image named_image() const;

  /// Returns the labels with autopack's facts about the image.
  std::map<std::string, std::string> labels() const;

private:
  std::shared_ptr<const Wanted> wanted_;
  std::shared_ptr<const plan::ReadablePlan> plan_;
  std::shared_ptr<const std::optional<state::BuildRecord>> before_;
  mutable std::shared_ptr<const Comparison> comparison_{};
};

/// Labels that identify an image made by autopack.
inline constexpr auto* key_label = "autopack.key";
inline constexpr auto* dependency_key_label = "autopack.dependency-key";
/// For an image whose requirements are layers of wheels, which have no byte code: Python may write
/// byte code where the program runs, so that not every process compiles again.
inline constexpr auto* wheels_label = "autopack.wheels";
/// For an image whose requirements are layers of wheels: the packages of its executor image that
/// they count on, replace or hide, as `numpy==2.1.0,pip==24.0`.
inline constexpr auto* base_packages_label = "autopack.base-packages";
/// The same: packages that were compiled on the executor image, by name; absent if there are none.
inline constexpr auto* compiled_label = "autopack.compiled";
/// Labels of the OCI specification.
inline constexpr auto* base_name_label = "org.opencontainers.image.base.name";
inline constexpr auto* base_digest_label = "org.opencontainers.image.base.digest";
/// For an image that was moved to another base: the digest of the image that it was before.
inline constexpr auto* rebased_label = "autopack.rebased-from";
/// The annotation of a layer of the dependency image with the key of its inputs.
inline constexpr auto* layer_key_annotation = "autopack.layer-key";

}  // namespace autopack::packaging
