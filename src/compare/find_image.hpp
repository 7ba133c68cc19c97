#pragma once

#include "image/source.hpp"
#include "services/services.hpp"

#include <string>

namespace autopack::compare {

/// Returns the image `name`: `oci:DIR`, `tar:FILE`, else an image of the registry that it names, of
/// the engine, or of Docker Hub. Throws Error(usage) if `name` is not the name of an image, and the
/// last error if nothing has it.
image::Source find_image(Services& services, const std::string& name, const std::string& platform);

}  // namespace autopack::compare
