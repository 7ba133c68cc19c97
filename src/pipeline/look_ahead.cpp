#include "pipeline/look_ahead.hpp"

#include "build/direct/direct_builder.hpp"
#include "pipeline/choose_builder.hpp"
#include "pipeline/secrets.hpp"

namespace autopack::pipeline {

using packaging::Packaging;

LookAhead::LookAhead(Services& services,
                     WantedPtr wanted,
                     executor::ExecutorImage& executor,
                     Mode mode)
    : services_{services}, wanted_{std::move(wanted)}, executor_{executor} {
  if (mode == Mode::on) {
    begin();
  }
}

void LookAhead::begin() {
  if (!executor_.seen()) {
    return;
  }
  try {
    planned_ = plan_packaging(services_, wanted_, *executor_.seen());
  } catch (const Error&) {
    // Errors are reported about the current executor image.
  }
  if (planned_) {
    look_for_findings();
  }
  executor_.ask();
  if (planned_ && wanted_->is_pushed() && !obstacle_to_direct(*planned_)) {
    target_ = std::make_shared<publish::Target>(services_, *planned_);
    layers_ = build::layers_ahead(services_, *planned_);
  }
  if (planned_) {
    planned_->comparison();
  }
}

const Packaging& LookAhead::confirmed() {
  const auto executor = executor_.confirmed();
  if (planned_ && planned_->plan().base == executor) {
    return *planned_;
  }
  layers_.reset();
  target_.reset();
  adviser_.reset();
  planned_ = plan_packaging(services_, wanted_, executor);
  look_for_findings();
  return *planned_;
}

/// Refuses secrets, before a byte is sent. The adviser follows the imports in the background,
/// beside the requests to registries.
void LookAhead::look_for_findings() {
  auto secrets = find_secrets(planned_->plan());
  const bool is_refused = has_errors(secrets);
  adviser_.emplace(services_, *planned_, std::move(secrets));
  if (is_refused) {
    adviser_->report_all(executor::LookInto::engine);
  }
}

std::shared_ptr<publish::Target> LookAhead::target(const Packaging& work) {
  return target_ ? std::move(target_) : std::make_shared<publish::Target>(services_, work);
}

std::vector<build::RecipeLayer> LookAhead::layers(const Packaging& work) {
  return layers_ ? std::move(*layers_) : build::layers_ahead(services_, work);
}

}  // namespace autopack::pipeline
