#pragma once

#include "base/background.hpp"
#include "pipeline/package.hpp"
#include "plan/advice.hpp"

namespace autopack::pipeline {

/// What an executor image holds is asked of the engine, or only of what is remembered.
enum class LookInto { engine, memory };

/// Advice on a plan, worked out while others wait for the network.
class AdviceQuestion {
public:
  /// `scanned` and `plan` must outlive it. Files of the working tree are read in the background;
  /// git's own are read by answer().
  AdviceQuestion(Services& services,
                 const PackageRequest& request,
                 const Scanned& scanned,
                 const plan::Plan& plan);

  plan::Advice answer(LookInto look = LookInto::engine);

private:
  Services& services_;
  const Scanned& scanned_;
  const plan::Plan& plan_;
  Background<plan::ImportFindings> imports_{};
};

/// Tells the warnings in one line each, the first of them only.
void tell_briefly(Services& services, const plan::Advice& advice);

/// Throws Error(project) of what `--strict` does not let pass: warnings of the project, the plan
/// and the advice.
void refuse_warnings(const Scanned& scanned, const plan::Plan& plan, const plan::Advice& advice);

}  // namespace autopack::pipeline
