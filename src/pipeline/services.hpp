#pragma once

#include "base/environment.hpp"
#include "base/report.hpp"
#include "engine/docker.hpp"
#include "google/artifact_registry.hpp"
#include "google/credentials.hpp"
#include "http/client.hpp"
#include "registry/credentials.hpp"
#include "state/base_cache.hpp"
#include "state/blob_cache.hpp"
#include "state/build_record.hpp"
#include "state/install_records.hpp"
#include "state/layer_cache.hpp"
#include "state/pushed_images.hpp"

#include <functional>
#include <memory>

namespace autopack::pipeline {

/// What the steps work with. Engine, client and tokens are made when first asked for, so that a
/// command that needs none touches none.
struct Services {
  Environment environment{};
  Reporter* reporter{nullptr};
  const Cancellation* cancellation{nullptr};
  std::function<engine::Docker&()> docker{};
  std::function<http::Client&()> client{};
  /// A client that Ctrl-C does not stop, for what must be known before the end.
  std::function<http::Client&()> uninterrupted_client{};
  /// A further client, for requests that another cancellation ends.
  std::function<std::unique_ptr<http::Client>(const Cancellation& stop)> new_client{};
  registry::CredentialSource credentials{};  ///< of registries
  /// Google's tokens by flags, environment and gcloud's configuration, one source for all of a
  /// run. Throws as google::find_credentials does.
  std::function<google::TokenSource&()> google{};
  /// Artifact Registry, for google::ensure_repository. Throws as `google` does.
  std::function<google::ArtifactRegistryOptions()> artifact_registry{};
  state::BaseCache base_cache{environment.cache_directory() / "bases"};
  state::BlobCache blob_cache{environment.cache_directory() / "blobs"};
  state::LayerCache layer_cache{environment.cache_directory() / "layers"};
  state::BuildRecords build_records{environment.cache_directory() / "builds"};
  state::InstallRecords install_records{environment.cache_directory() / "installations"};
  state::PushedImages pushed_images{environment.cache_directory() / "pushed"};
};

}  // namespace autopack::pipeline
