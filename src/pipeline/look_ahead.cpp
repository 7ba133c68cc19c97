#include "pipeline/look_ahead.hpp"

#include "build/direct/direct_builder.hpp"
#include "pipeline/advice.hpp"
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
    refuse_secrets();
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

Packaging LookAhead::confirmed() {
  const auto executor = executor_.confirmed();
  if (planned_ && planned_->plan().base == executor) {
    return *planned_;
  }
  layers_.reset();
  target_.reset();
  planned_ = plan_packaging(services_, wanted_, executor);
  refuse_secrets();
  return *planned_;
}

/// Runs before a byte is sent.
void LookAhead::refuse_secrets() {
  secrets_ = find_secrets(planned_->plan());
  if (has_errors(secrets_)) {
    Adviser{services_, *planned_, secrets_}.report_all(executor::LookInto::engine);
  }
}

std::shared_ptr<publish::Target> LookAhead::target(const Packaging& work) {
  return target_ ? std::move(target_) : std::make_shared<publish::Target>(services_, work);
}

std::vector<build::RecipeLayer> LookAhead::layers(const Packaging& work) {
  return layers_ ? std::move(*layers_) : build::layers_ahead(services_, work);
}

}  // namespace autopack::pipeline
