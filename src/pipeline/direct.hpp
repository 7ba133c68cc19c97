#pragma once

#include "image/reference.hpp"
#include "pipeline/assembly.hpp"
#include "pipeline/reuse.hpp"
#include "registry/client.hpp"

#include <optional>
#include <string>

namespace autopack::pipeline {

/// Why Engine::direct is refused before anything is asked: the image would stay in the engine.
std::optional<std::string> needs_an_engine(const PackageRequest& request, bool pushed);

/// Throws Error(usage) with that reason when `request` asks for the direct engine.
void refuse_direct(const PackageRequest& request, bool pushed);

/// Why the direct engine does not make this image; none when it does.
std::optional<std::string> obstacle_to_direct(const PackageRequest& request,
                                              const plan::Plan& plan,
                                              bool pushed);

/// The layers of `plan` when something `changed` since it was last built here: a registry will
/// hardly have them. Made while servers answer. Empty when they may not be needed.
std::vector<Assembly::Layer> layers_ahead(Services& services, const plan::Plan& plan, bool changed);

/// Takes the image of `plan` from its registry (asked by `question` already), or puts it together
/// there from the dependency image (or the base, when nothing is installed) and the code, whose
/// `layers` may be there already. The docker engine is asked only for a dependency image that the
/// registry does not have; with Engine::direct that is Error(environment).
Image package_directly(Services& services,
                       const PackageRequest& request,
                       const Scanned& scanned,
                       const plan::Plan& plan,
                       const Reasons& reasons,
                       const ImageName& name,
                       TargetQuestion question,
                       std::vector<Assembly::Layer> layers);

}  // namespace autopack::pipeline
