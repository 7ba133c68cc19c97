#pragma once

#include "pipeline/package.hpp"
#include "registry/client.hpp"

#include <future>
#include <memory>
#include <optional>
#include <string>

namespace autopack::pipeline {

/// `apd-` and the first 16 digits of the dependency key.
std::string dependency_tag(const plan::Plan& plan);

/// What a repository has for a plan; each none when it is not there.
struct Found {
  std::optional<image::Descriptor> image{};         ///< under the key's tag
  std::optional<image::Descriptor> dependencies{};  ///< under dependency_tag
  std::optional<image::Descriptor> own{};           ///< under the user's tag
  image::Manifest held{};  ///< what was last pushed there and still is; empty: not known
};

/// Where an image goes, asked in the background for what it has.
struct TargetQuestion {
  std::shared_ptr<registry::Repository> target{};
  std::future<Found> found{};
};

/// Asks for all of it at once, in one round trip; with `--no-cache` for nothing.
TargetQuestion ask_target(Services& services,
                          const PackageRequest& request,
                          const plan::Plan& plan,
                          const ImageName& name);

/// The image under the key's tag; the user's tag is moved to it. None when it is not there.
std::optional<Image> reuse(registry::Repository& repository,
                           const plan::Plan& plan,
                           const Reasons& reasons,
                           const ImageName& name,
                           const Found& found);

}  // namespace autopack::pipeline
