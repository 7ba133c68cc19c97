#include "services/services.hpp"

#include "base/own_file.hpp"

namespace autopack {

Services::Services(Environment of, Reporter& teller, const Cancellation* stop, ServiceMakers makers)
    : environment{std::move(of)},
      reporter{&teller},
      cancellation{stop},
      new_client{std::move(makers.client)},
      client{[this] { return new_client(cancellation); }},
      unstoppable_client{[this] { return new_client(nullptr); }},
      docker{std::move(makers.docker)},
      google{std::move(makers.google)},
      credentials{std::move(makers.credentials)},
      artifact_registry{std::move(makers.artifact_registry)},
      cloud_build{std::move(makers.cloud_build)} {
  close_to_others(environment.cache_directory());
}

}  // namespace autopack
