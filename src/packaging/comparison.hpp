#pragma once

#include "plan/changes.hpp"
#include "state/build_record.hpp"

#include <optional>
#include <string>

namespace autopack::packaging {

class Packaging;

/// How a project compares with what was last built of it on this machine.
struct Comparison {
  bool is_first{true};  ///< nothing was built of it here yet
  plan::Changes changes{};
  /// What to keep for the next time; none when that is there already.
  std::optional<state::BuildRecord> record{};
};

/// Whether something was taken as it is or made anew, and why.
struct Outcome {
  bool reused{false};
  std::string reason{};  ///< follows "because": `requirements.txt changed (numpy 2.1 -> 2.2)`
  bool is_first{false};  ///< nothing was there to be compared with
};

/// What a build will do about the image and about its dependencies, by the comparison alone: a
/// registry may have either already. No dependencies: none.
Outcome expected_image(const Packaging& work);
std::optional<Outcome> expected_dependencies(const Packaging& work);

/// An image that was there already, and its dependencies.
Outcome reused_image(const Packaging& work);
std::optional<Outcome> reused_dependencies(const Packaging& work);

/// Why dependencies are made anew: `--no-cache`, what changed, else `otherwise`.
Outcome rebuilt_dependencies(const Packaging& work, const std::string& otherwise);

/// `reused: nothing changed`, `built for the first time here`, `rebuilt because requirements.txt
/// changed (numpy 2.1 -> 2.2)`.
std::string to_text(const Outcome& outcome);

}  // namespace autopack::packaging
