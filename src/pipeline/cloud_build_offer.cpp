#include "pipeline/cloud_build_offer.hpp"

#include "base/text.hpp"
#include "build/cloud/cloud_builder.hpp"
#include "executor/executor_image.hpp"

#include <fmt/format.h>

#include <memory>

namespace autopack::pipeline {

namespace {

bool engine_answers(Services& services) {
  try {
    services.docker().info();
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Returns true if `error` is that no engine answers, and Cloud Build could do its work.
bool could_use_cloud_build(Services& services,
                           const packaging::Wanted& wanted,
                           const Error& error) {
  const auto& request = wanted.request;
  return error.kind() == ErrorKind::environment && request.engine == packaging::Engine::automatic &&
         !request.uses_cloud_build && wanted.is_pushed() && services.cloud_build &&
         !engine_answers(services) && !build::obstacle_to_cloud(services, wanted);
}

/// Asks a person whether Cloud Build may build the image; returns false if nobody can answer.
bool agrees_to_cloud_build(Services& services, const WantedPtr& wanted) {
  if (!services.agrees) {
    return false;
  }
  const auto place = build::cloud_place(services, *wanted);
  const auto work =
      plan_packaging(services, wanted, executor::facts_offline(services, wanted->request));
  const auto files = build::files_to_send(work);
  return services.agrees(
      fmt::format("No docker engine answers. Build it with Cloud Build, in project {}? It costs "
                  "money and sends {} file{} to gs://{} [y/N] ",
                  printable(place.project), files, files == 1 ? "" : "s", place.bucket));
}

}  // namespace

WantedPtr offer_cloud_build(Services& services, const WantedPtr& wanted, Error& error) {
  if (!could_use_cloud_build(services, *wanted, error)) {
    return nullptr;
  }
  if (!agrees_to_cloud_build(services, wanted)) {
    error.hint(
        "`--builder=cloud-build` builds it in Google Cloud: it costs money and sends the "
        "project's files to a bucket");
    return nullptr;
  }
  const auto in_cloud = std::make_shared<packaging::Wanted>(*wanted);
  in_cloud->request.uses_cloud_build = true;
  return in_cloud;
}

}  // namespace autopack::pipeline
