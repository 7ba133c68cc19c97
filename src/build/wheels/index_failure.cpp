#include "build/wheels/index_failure.hpp"

#include "packaging/request.hpp"

#include <fmt/format.h>

namespace autopack::build {

std::string hand_over_to_pip(Services& services,
                             const packaging::Packaging& work,
                             const Error& error) {
  std::string reason = error.message();
  if (!error.causes().empty()) {
    reason += ": " + error.causes().back();
  }
  if (work.request().engine != packaging::Engine::direct) {
    services.reporter->done(
        "Left",
        fmt::format("the requirements to pip in {}: {}",
                    work.request().uses_cloud_build ? "Cloud Build" : "the docker engine", reason));
  }
  return reason;
}

}  // namespace autopack::build
