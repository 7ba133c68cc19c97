#pragma once

#include "base/background.hpp"
#include "executor/contents.hpp"
#include "packaging/packaging.hpp"
#include "plan/advice.hpp"
#include "plan/syntax_advice.hpp"
#include "services/services.hpp"

#include <optional>

namespace autopack::pipeline {

/// The one list of what was found of an image: its secrets, the project, the plan, how the program
/// starts, what it imports. Every command reports it from here. Imports are followed while others
/// wait for the network.
///
/// A finding that certainly ends the program (see project::certain) is an error for a request that
/// refuses those, else a warning; with `--strict` every warning is an error.
class Adviser {
public:
  /// `work` must outlive it; `secrets` are those of its plan (see find_secrets). Files of the
  /// working tree are read in the background; git's own are read when the findings are asked for.
  Adviser(Services& services, const packaging::Packaging& work, Problems secrets = {});

  /// All findings, each once, with the severity that the request gives them.
  Problems findings(executor::LookInto look);

  /// Those that are not warnings of the plan.
  Problems advice(executor::LookInto look);

  /// Reports what is known without following the imports. Throws Error(project) with everything
  /// that was found when an error is among it.
  void tell_plan();

  /// The same. An edit does not wait for the imports, unless the request refuses what they may
  /// find; what takes minutes is not begun before people know of it.
  void tell_before_making();

  /// What was not reported before.
  void tell_after_making();

  /// All findings; throws Error(project) with all of them when an error is among them.
  void tell_all(executor::LookInto look);

private:
  /// What following the imports finds.
  struct Followed {
    plan::ImportFindings imports{};
    plan::SyntaxFaults faults{};
  };

  static Followed follow(const packaging::Packaging& work);

  const Problems& early();
  const Problems& late(executor::LookInto look);
  void tell(const Problems& found) const;

  Services& services_;
  const packaging::Packaging& work_;
  Problems secrets_;
  Background<Followed> followed_{};
  std::optional<Problems> early_{};  ///< once they were looked for
  std::optional<Problems> late_{};
  bool told_{false};
};

}  // namespace autopack::pipeline
