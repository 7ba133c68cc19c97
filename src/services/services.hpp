#pragma once

#include "base/environment.hpp"
#include "base/report.hpp"
#include "engine/docker.hpp"
#include "google/artifact_registry.hpp"
#include "google/credentials.hpp"
#include "http/client.hpp"
#include "registry/credentials.hpp"
#include "services/once.hpp"
#include "services/repository_notes.hpp"
#include "state/base_cache.hpp"
#include "state/blob_cache.hpp"
#include "state/build_record.hpp"
#include "state/layer_cache.hpp"
#include "state/pushed_images.hpp"
#include "state/records.hpp"

#include <functional>
#include <memory>

namespace autopack {

/// How the parts of Services are made that a test or another run may want otherwise.
struct ServiceMakers {
  /// With null nothing ends its requests before their time.
  std::function<std::shared_ptr<http::Client>(const Cancellation* cancellation)> client{};
  Once<engine::Docker>::Make docker{};
  /// Throws as google::find_credentials does.
  Once<google::TokenSource>::Make google{};
  /// Throws as `google` does.
  std::function<google::ArtifactRegistryOptions()> artifact_registry{};
  registry::CredentialSource credentials{};
};

/// What the steps of a run work with. Engine, clients and tokens are made when first asked for, so
/// that a command that needs none touches none.
struct Services {
  Services(Environment of, Reporter& teller, const Cancellation* stop, ServiceMakers makers);
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;
  Services(Services&&) = delete;
  Services& operator=(Services&&) = delete;
  ~Services() = default;

  Environment environment;
  Reporter* reporter;
  const Cancellation* cancellation;
  /// A further client, for requests that another cancellation ends.
  std::function<std::shared_ptr<http::Client>(const Cancellation* cancellation)> new_client;
  Once<http::Client> client;
  /// A client that Ctrl-C does not stop, for what must be known before the end.
  Once<http::Client> unstoppable_client;
  Once<engine::Docker> docker;
  /// Google's tokens by flags, environment and gcloud's configuration, one source for all of a run.
  Once<google::TokenSource> google;
  registry::CredentialSource credentials;  ///< of registries
  /// Artifact Registry, for google::ensure_repository.
  std::function<google::ArtifactRegistryOptions()> artifact_registry;
  state::BaseCache base_cache{environment.cache_directory() / "bases"};
  state::BlobCache blob_cache{environment.cache_directory() / "blobs"};
  state::LayerCache layer_cache{environment.cache_directory() / "layers"};
  state::BuildRecords build_records{environment.cache_directory() / "builds"};
  /// What dependency images tell of the installation of the project's own package, by the image's
  /// digest and by the dependency key that it was made for.
  state::Records install_records{environment.cache_directory() / "installations"};
  /// What was found out about wheels and sets of them, by what was asked.
  state::Records wheel_records{environment.cache_directory() / "wheel-records"};
  state::PushedImages pushed_images{environment.cache_directory() / "pushed"};
  /// Of the repository that this run's image goes to; null when it goes to none, and when what was
  /// made before is not to be used.
  std::shared_ptr<RepositoryNotes> notes{};
};

}  // namespace autopack
