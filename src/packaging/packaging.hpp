#pragma once

#include "packaging/age_limit.hpp"
#include "packaging/comparison.hpp"
#include "packaging/image.hpp"
#include "packaging/wanted.hpp"
#include "plan/plan.hpp"
#include "state/build_record.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace autopack::packaging {

/// An image that is to be made: what the user wants, every decision about it, its names and keys,
/// and how it compares with what was built here last. A copy shares all of it.
class Packaging {
public:
  /// `before` is what was built of the working directory last; none when nothing was.
  Packaging(std::shared_ptr<const Wanted> wanted,
            plan::ReadablePlan plan,
            std::optional<state::BuildRecord> before);

  const Wanted& wanted() const { return *wanted_; }

  const Request& request() const { return wanted_->request; }

  const ScannedProject& scanned() const { return wanted_->scanned; }

  const ImageName& name() const { return wanted_->name; }

  /// Stays where it is, in copies too.
  const plan::ReadablePlan& plan() const { return *plan_; }

  /// True when something is different from what was built here last, or nothing was.
  bool is_changed() const;

  /// Worked out when first asked for.
  const Comparison& comparison() const;

  /// What was built here last, as the key of its image; none when nothing was.
  std::optional<std::string> key_before() const;

  /// True when something is installed or removed below the code.
  bool needs_dependencies() const { return plan_->needs_dependency_image(); }

  /// False for a user's own Dockerfile: what it starts from is not in the key, so only the
  /// builder's cache can tell whether the image is still the same.
  bool key_is_whole() const { return !plan_->user_dockerfile; }

  std::string key_tag() const { return packaging::key_tag(plan_->keys.value().image); }

  std::string dependency_tag() const {
    return packaging::dependency_tag(plan_->keys.value().dependencies);
  }

  /// `repository:ap-<16 hex>`
  image::Reference keyed_name() const;

  /// `repository:apd-<16 hex>`
  std::string dependency_name() const;

  AgeLimit age_limit() const { return {request(), scanned().project, plan()}; }

  /// The image by its names alone.
  Image named_image() const;

  /// What autopack says of the image in its labels.
  std::map<std::string, std::string> labels() const;

private:
  std::shared_ptr<const Wanted> wanted_;
  std::shared_ptr<const plan::ReadablePlan> plan_;
  std::shared_ptr<const std::optional<state::BuildRecord>> before_;
  mutable std::shared_ptr<const Comparison> comparison_{};
};

/// Labels of an image by which autopack knows it again.
inline constexpr auto* key_label = "autopack.key";
inline constexpr auto* dependency_key_label = "autopack.dependency-key";
/// Of an image whose requirements are layers of wheels, which hold no byte code: Python may write
/// it where the program runs, so that not every process compiles again.
inline constexpr auto* wheels_label = "autopack.wheels";

}  // namespace autopack::packaging
