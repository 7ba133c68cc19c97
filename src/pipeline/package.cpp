#include "pipeline/package.hpp"

#include "attest/documents.hpp"
#include "pipeline/advice.hpp"
#include "pipeline/choose_builder.hpp"
#include "pipeline/cloud_build_offer.hpp"
#include "pipeline/image_sbom.hpp"
#include "pipeline/secrets.hpp"
#include "plan/advice.hpp"
#include "services/repositories.hpp"

namespace autopack::pipeline {

namespace {

/// The facts that a registry remembers are for images that are assembled from its layers.
bool uses_repository_facts(const packaging::Wanted& wanted) {
  const auto& request = wanted.request;
  return wanted.is_pushed() && !request.no_cache && request.engine != packaging::Engine::docker;
}

packaging::Image package_as_wanted(Services& services,
                                   const WantedPtr& wanted,
                                   LookAhead::Mode mode) {
  refuse_direct_in_engine(*wanted);
  attest::check_attaching(services, *wanted);
  if (uses_repository_facts(*wanted)) {
    services.repository_facts = open_repository_facts(services, wanted->name);
  }
  executor::ExecutorImage executor{services, wanted->request};
  LookAhead ahead{services, wanted, executor, mode};
  const packaging::Packaging& work = ahead.confirmed();
  Adviser& adviser = ahead.adviser();
  adviser.report_before_making();
  report_scanned(*services.reporter, work);
  const auto [builder, publishers] = choose_builder(services, work, ahead);
  packaging::MadeImage made = builder->make(work);
  for (const auto& publisher : publishers) {
    publisher->publish(work, made);
  }
  document_image(services, work, made);
  adviser.report_after_making();
  if (const auto& record = work.comparison().record) {
    services.build_records.put(wanted->request.project.directory, wanted->request.options.platform,
                               *record);
  }
  made.image.git = wanted->scanned.git;
  adviser.report_gpu_code();
  return made.image;
}

}  // namespace

packaging::Image package(Services& services, const WantedPtr& wanted, LookAhead::Mode mode) {
  WantedPtr in_cloud;
  try {
    return package_as_wanted(services, wanted, mode);
  } catch (Error& error) {
    in_cloud = offer_cloud_build(services, wanted, error);
    if (!in_cloud) {
      throw;
    }
  }
  return package_as_wanted(services, in_cloud, mode);
}

std::optional<std::string> find_gpu_use(Services& services, const WantedPtr& wanted) {
  const auto work =
      plan_packaging(services, wanted, executor::facts_offline(services, wanted->request));
  return plan::find_gpu_use(work.plan(), wanted->scanned.project);
}

void check_offline(Services& services, const WantedPtr& wanted) {
  const auto work =
      plan_packaging(services, wanted, executor::facts_offline(services, wanted->request));
  Adviser{services, work, find_secrets(work.plan())}.report_all(executor::LookInto::memory);
  report_scanned(*services.reporter, work);
}

Problems find_offline(Services& services, const WantedPtr& wanted) {
  try {
    const auto work =
        plan_packaging(services, wanted, executor::facts_offline(services, wanted->request));
    return Adviser{services, work, find_secrets(work.plan())}.findings(executor::LookInto::memory);
  } catch (const Error& error) {
    if (exit_status(error.kind()) != exit_status(ErrorKind::project)) {
      throw;
    }
    return error.as_problems();
  }
}

}  // namespace autopack::pipeline
