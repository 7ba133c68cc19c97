#pragma once

#include "image/source.hpp"
#include "services/services.hpp"

#include <string>

namespace autopack::compare {

/// The image that `name` says: `oci:DIR`, `tar:FILE`, else one of the registry when it names one,
/// of the engine, or of Docker Hub. Throws Error(usage) for what is no name of an image, and what
/// was found last when nobody has it.
image::Source find_image(Services& services, const std::string& name, const std::string& platform);

}  // namespace autopack::compare
