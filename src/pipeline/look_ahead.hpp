#pragma once

#include "build/direct/assembly.hpp"
#include "executor/executor_image.hpp"
#include "pipeline/advice.hpp"
#include "pipeline/planning.hpp"
#include "publish/target.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace autopack::pipeline {

/// Prefetches what will probably be needed: the plan on the executor image as last seen, the
/// findings about it, the responses of the target registry, the layers. If a prediction was wrong,
/// or prefetching is off, the same is done later.
class LookAhead {
public:
  enum class Mode { on, off };

  /// Plans first, which runs all offline checks, and only then asks `executor` and the target.
  /// Throws all findings if there are secrets.
  LookAhead(Services& services,
            WantedPtr wanted,
            executor::ExecutorImage& executor,
            Mode mode = Mode::on);

  /// Returns the plan on the current executor image. The reference is valid as long as this object.
  const packaging::Packaging& confirmed();

  /// Returns the findings about that plan; call `confirmed` first.
  Adviser& adviser() { return adviser_.value(); }

  /// Returns the target of `work`, which must be confirmed.
  std::shared_ptr<publish::Target> target(const packaging::Packaging& work);

  /// Returns the layers of `work` as for build::layers_ahead.
  std::vector<build::RecipeLayer> layers(const packaging::Packaging& work);

private:
  void begin();
  void look_for_findings();

  Services& services_;
  WantedPtr wanted_;
  executor::ExecutorImage& executor_;
  std::optional<packaging::Packaging> planned_{};
  std::optional<Adviser> adviser_{};  ///< of `planned_`
  std::shared_ptr<publish::Target> target_{};
  std::optional<std::vector<build::RecipeLayer>> layers_{};
};

}  // namespace autopack::pipeline
