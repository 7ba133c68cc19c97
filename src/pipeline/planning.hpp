#pragma once

#include "image/facts.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <memory>

namespace autopack::pipeline {

using WantedPtr = std::shared_ptr<const packaging::Wanted>;

/// Decides everything about the image that is wanted, on an executor image. Asks no server and
/// reports nothing. An error of the project that it throws comes with the secrets of the files.
packaging::Packaging plan_packaging(Services& services,
                                    const WantedPtr& wanted,
                                    const image::BaseFacts& executor);

/// Tells each choice that nobody made, with the flag that makes it.
void tell_inferred(Reporter& reporter, const std::vector<project::Inferred>& inferred);

/// Reports what goes into the image.
void tell_scanned(Reporter& reporter, const packaging::Packaging& work);

}  // namespace autopack::pipeline
