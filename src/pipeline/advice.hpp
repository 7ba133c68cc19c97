#pragma once

#include "base/background.hpp"
#include "executor/contents.hpp"
#include "packaging/packaging.hpp"
#include "plan/advice.hpp"
#include "services/services.hpp"

namespace autopack::pipeline {

/// Tells what a user should know of an image before it is paid for. Advice is worked out while
/// others wait for the network.
class Adviser {
public:
  /// `work` must outlive it. Files of the working tree are read in the background; git's own are
  /// read when the advice is asked for.
  Adviser(Services& services, const packaging::Packaging& work);

  plan::Advice advice(executor::LookInto look);

  /// With `--strict` throws what is advised; what takes minutes is not begun before people know of
  /// it, but an edit does not wait.
  void tell_before_making();

  /// What was not told before.
  void tell_after_making();

  /// All of it, and with `--strict` throws it.
  void tell_all(executor::LookInto look);

private:
  Services& services_;
  const packaging::Packaging& work_;
  Background<plan::ImportFindings> imports_{};
  bool told_{false};
};

/// Throws Error(project) of what `--strict` does not let pass: warnings of the project, the plan
/// and the advice.
void refuse_warnings(const packaging::Packaging& work, const plan::Advice& advice);

}  // namespace autopack::pipeline
