#pragma once

#include "registry/caller.hpp"

namespace autopack::registry {

/// Streams a blob to `sink`, goes on where a connection broke, and verifies size and digest.
void download(Caller& caller,
              const image::Descriptor& blob,
              const std::function<void(std::string_view)>& sink);

}  // namespace autopack::registry
