#pragma once

#include "image/reference.hpp"
#include "services/services.hpp"

namespace autopack::publish {

/// Copies the image `from` to the repository of `to`, byte for byte, and reports it. Both names
/// have the same digest. Does nothing if the names are equal or `to` is already there.
void copy_image(Services& services, const image::Reference& from, const image::Reference& to);

}  // namespace autopack::publish
