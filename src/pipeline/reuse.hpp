#pragma once

#include "base/background.hpp"
#include "pipeline/package.hpp"
#include "registry/client.hpp"

#include <memory>
#include <optional>
#include <string>

namespace autopack::pipeline {

/// `apd-` and the first 16 digits of `dependency_key`.
std::string dependency_tag(const std::string& dependency_key);

/// What was pushed last to a repository from here. Its layers are not sent again when it is there.
struct LastPushed {
  image::Manifest manifest{};
  Digest digest;
};

/// What a repository has for a plan; each none when it is not there.
struct Found {
  std::optional<image::Descriptor> image{};         ///< under the key's tag
  std::optional<image::Descriptor> dependencies{};  ///< under dependency_tag
  bool asked_dependencies{true};
  std::optional<image::Descriptor> own{};  ///< under the user's tag, when `asked_own`
  bool asked_own{false};
  std::optional<LastPushed> last{};  ///< as far as that is known here
};

/// Where an image goes, asked in the background for what it has.
struct TargetQuestion {
  std::shared_ptr<registry::Repository> target{};
  Background<Found> found{};
};

/// Asks for all that will be needed at once, in one round trip: what was pushed last and the
/// dependencies only when something `changed` or these may be too old, the user's tag only when
/// nothing did. With `--no-cache` for nothing.
TargetQuestion ask_target(Services& services,
                          const PackageRequest& request,
                          const plan::Plan& plan,
                          bool changed,
                          const ImageName& name);

/// The image under the key's tag; the user's tag is moved to it. None when it is not there.
std::optional<Image> reuse(registry::Repository& repository,
                           const plan::Plan& plan,
                           const Reasons& reasons,
                           const ImageName& name,
                           const Found& found);

}  // namespace autopack::pipeline
