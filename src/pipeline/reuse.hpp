#pragma once

#include "pipeline/package.hpp"
#include "registry/client.hpp"

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
};

/// Asks for all of it at once, in one round trip.
Found find_in(registry::Repository& repository, const plan::Plan& plan, const ImageName& name);

/// The image under the key's tag; the user's tag is moved to it. None when it is not there.
std::optional<Image> reuse(registry::Repository& repository,
                           const plan::Plan& plan,
                           const Reasons& reasons,
                           const ImageName& name,
                           const Found& found);

}  // namespace autopack::pipeline
