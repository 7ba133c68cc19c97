#pragma once

#include "registry/caller.hpp"

namespace autopack::registry {

/// Streams a blob to `sink`, continues after a broken connection, and verifies size and digest.
void download(Caller& caller,
              const image::Descriptor& blob,
              const std::function<void(std::string_view)>& sink);

}  // namespace autopack::registry
