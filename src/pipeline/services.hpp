#pragma once

#include "base/environment.hpp"
#include "base/report.hpp"
#include "engine/docker.hpp"
#include "http/client.hpp"
#include "registry/credentials.hpp"
#include "state/base_cache.hpp"
#include "state/blob_cache.hpp"

#include <functional>

namespace autopack::pipeline {

/// What the steps work with. Engine and client are made when first asked for, so that a command
/// that needs neither touches neither.
struct Services {
  Environment environment{};
  Reporter* reporter{nullptr};
  const Cancellation* cancellation{nullptr};
  std::function<engine::Docker&()> docker{};
  std::function<http::Client&()> client{};
  registry::CredentialSource credentials{};  ///< of registries
  state::BaseCache base_cache{environment.cache_directory() / "bases"};
  state::BlobCache blob_cache{environment.cache_directory() / "blobs"};
  state::LayerCache layer_cache{environment.cache_directory() / "layers"};
};

}  // namespace autopack::pipeline
