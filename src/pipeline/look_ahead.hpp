#pragma once

#include "engine/direct/assembly.hpp"
#include "executor/executor_image.hpp"
#include "pipeline/planning.hpp"
#include "publish/target.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace autopack::pipeline {

/// What will most likely be needed, begun before it is known to be: the plan on the executor image
/// as it was seen last, the answers of the registry that the image goes to, the layers. Where it
/// was wrong, and where it is switched off, the same is done later.
class LookAhead {
public:
  enum class Mode { on, off };

  /// Plans, which checks what needs no network, and only then asks `executor` and the target.
  /// Throws the secrets that are found, with everything else that is.
  LookAhead(Services& services,
            WantedPtr wanted,
            executor::ExecutorImage& executor,
            Mode mode = Mode::on);

  /// The plan on the executor image as it is now.
  packaging::Packaging confirmed();

  /// What find_secrets says of that plan: warnings.
  const Problems& secrets() const { return secrets_; }

  /// Where `work`, which was confirmed, goes.
  std::shared_ptr<publish::Target> target(const packaging::Packaging& work);

  /// The layers of `work` as for engine::layers_ahead.
  std::vector<engine::RecipeLayer> layers(const packaging::Packaging& work);

private:
  void begin();
  void refuse_secrets();

  Services& services_;
  WantedPtr wanted_;
  executor::ExecutorImage& executor_;
  std::optional<packaging::Packaging> planned_{};
  Problems secrets_{};
  std::shared_ptr<publish::Target> target_{};
  std::optional<std::vector<engine::RecipeLayer>> layers_{};
};

}  // namespace autopack::pipeline
