#pragma once

#include "plan/changes.hpp"
#include "state/build_record.hpp"

#include <optional>
#include <string>

namespace autopack::packaging {

class Packaging;

/// How a project differs from its last build on this machine.
struct Comparison {
  bool is_first{true};  ///< nothing was built from it here yet
  plan::Changes changes{};
  /// What to store for the next time; absent if it is already stored.
  std::optional<state::BuildRecord> record{};
};

/// Whether something was reused or rebuilt, and why.
struct Outcome {
  bool reused{false};
  std::string reason{};  ///< follows "because": `requirements.txt changed (numpy 2.1 -> 2.2)`
  bool is_first{false};  ///< there was nothing to compare with
};

/// Predict what a build will do about the image and about its dependencies. They use only the
/// comparison: a registry may already have either. Without dependencies, the second returns
/// nothing.
Outcome expected_image(const Packaging& work);
std::optional<Outcome> expected_dependencies(const Packaging& work);

/// For an image that already exists, and for its dependencies.
Outcome reused_image(const Packaging& work);
std::optional<Outcome> reused_dependencies(const Packaging& work);

/// Returns why dependencies are rebuilt: `--no-cache`, what changed, else `otherwise`.
Outcome rebuilt_dependencies(const Packaging& work, const std::string& otherwise);

/// Returns `reused: nothing changed`, `built for the first time here`, or `rebuilt because
/// requirements.txt changed (numpy 2.1 -> 2.2)`.
std::string to_text(const Outcome& outcome);

}  // namespace autopack::packaging
