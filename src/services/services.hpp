#pragma once

#include "base/environment.hpp"
#include "base/report.hpp"
#include "engine/docker.hpp"
#include "executor/remembered/repository_facts.hpp"
#include "google/artifact_registry.hpp"
#include "google/cloud_build.hpp"
#include "google/credentials.hpp"
#include "http/client.hpp"
#include "registry/credentials.hpp"
#include "state/blob_cache.hpp"
#include "state/build_record.hpp"
#include "state/records.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace autopack {

/// A value that is made on first use, and only once, whichever thread asks.
template <class T>
class Once {
public:
  using Make = std::function<std::shared_ptr<T>()>;

  explicit Once(Make make) : make_{std::move(make)} {}

  /// Throws the maker's exception; the next call tries again.
  T& operator()() {
    std::call_once(flag_, [this] { made_ = make_(); });
    return *made_;
  }

  /// Uses `other` from now on, and returns the value so far, or null. Not while others use it.
  std::shared_ptr<T> replace(std::shared_ptr<T> other) {
    std::call_once(flag_, [] {});
    std::swap(made_, other);
    return other;
  }

  /// The same as a function, for code that does not know the maker. This must outlive it.
  std::function<T&()> function() {
    return [this]() -> T& { return (*this)(); };
  }

private:
  Make make_;
  std::once_flag flag_;
  std::shared_ptr<T> made_{};
};

/// The factories of the parts of Services, which a test or another run may replace.
struct ServiceMakers {
  /// With null, nothing cancels the client's requests.
  std::function<std::shared_ptr<http::Client>(const Cancellation* cancellation)> client{};
  Once<engine::Docker>::Make docker{};
  /// Throws like google::find_credentials.
  Once<google::TokenSource>::Make google{};
  /// Throws like `google`.
  std::function<google::ArtifactRegistryOptions()> artifact_registry{};
  /// Throws like `google` if the run must not use Google's own service.
  std::function<google::CloudBuildOptions()> cloud_build{};
  registry::CredentialSource credentials{};
};

/// The clients, caches and settings that the steps of a run share. Engine, clients and tokens are
/// made on first use, so that a command does not touch those it does not need.
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
  /// Returns another client, whose requests have another cancellation.
  std::function<std::shared_ptr<http::Client>(const Cancellation* cancellation)> new_client;
  Once<http::Client> client;
  /// A client that Ctrl-C does not interrupt, for requests that must finish before the program
  /// ends.
  Once<http::Client> unstoppable_client;
  Once<engine::Docker> docker;
  /// Google's tokens by flags, environment and gcloud's configuration; one source for the whole
  /// run.
  Once<google::TokenSource> google;
  registry::CredentialSource credentials;  ///< of registries
  /// For google::ensure_repository.
  std::function<google::ArtifactRegistryOptions()> artifact_registry;
  /// For builds in Cloud Build.
  std::function<google::CloudBuildOptions()> cloud_build;
  /// Returns true if a person answers `question` with yes; false if nobody can answer.
  std::function<bool(const std::string& question)> agrees{};
  state::BlobCache blob_cache{environment.cache_directory() / "blobs"};
  state::LayerCache layer_cache{environment.cache_directory() / "layers"};
  state::BuildRecords build_records{environment.cache_directory() / "builds"};
  /// The records in dependency images about the installation of the project's own package, by the
  /// image's digest and the dependency key that it was made for.
  state::Records install_records{environment.cache_directory() / "installations"};
  /// Facts about wheels and sets of wheels, by their query.
  state::Records wheel_records{environment.cache_directory() / "wheel-records"};
  state::PushedImages pushed_images{environment.cache_directory() / "pushed"};
  /// The facts in the repository that this run's image is pushed to. Null if it is not pushed, or
  /// if existing results must not be used.
  std::shared_ptr<RepositoryFacts> repository_facts{};
};

}  // namespace autopack
