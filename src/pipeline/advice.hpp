#pragma once

#include "base/background.hpp"
#include "executor/contents.hpp"
#include "packaging/packaging.hpp"
#include "plan/advice.hpp"
#include "services/services.hpp"

#include <optional>

namespace autopack::pipeline {

/// The single list of findings about an image: its secrets, the project, the plan, how the program
/// starts, and its imports. Every command reports it from here. Imports are followed while other
/// tasks wait for the network.
/// A finding that certainly ends the program (see project::certain) is an error if the request
/// refuses those, else a warning; with `--strict` every warning is an error.
class Adviser {
public:
  /// `work` must outlive it; `secrets` are those of its plan (see find_secrets). Reads files of the
  /// working tree in the background, and git's on request.
  Adviser(Services& services, const packaging::Packaging& work, Problems secrets = {});

  /// Finds what a generated Dockerfile needs, in which pip installs the requirements.
  void assume_pip() { installs_with_pip_ = true; }

  /// Returns all findings without duplicates, with the severity for this request.
  Problems findings(executor::LookInto look);

  /// Returns those that are not warnings of the plan.
  Problems advice(executor::LookInto look);

  /// Reports the known findings without following the imports. Throws Error(project) with all
  /// findings if an error is among them.
  void report_plan();

  /// The same. An edit does not wait for the imports, unless the request refuses findings about
  /// them; but nothing that takes minutes starts before they are reported.
  void report_before_making();

  /// Reports the remaining findings.
  void report_after_making();

  /// Reports findings about GPU code that became known while the image was made. Throws
  /// Error(project) as above: the image is there, but nothing starts.
  void report_gpu_code();

  /// Reports all findings; throws Error(project) with all of them if an error is among them.
  void report_all(executor::LookInto look);

private:
  /// The results of following the imports.
  struct Followed {
    plan::ImportFindings imports{};
    plan::SyntaxFaults faults{};
  };

  static Followed follow(const packaging::Packaging& work);
  /// Returns the results, once they are there.
  const Followed& followed();

  const Problems& early();
  const Problems& late(executor::LookInto look);
  /// Returns `found` with cells in place of the lines of a notebook's program.
  Problems with_cells(Problems found) const;
  void report(const Problems& found) const;
  Problems find_in_gpu_code();

  Services& services_;
  const packaging::Packaging& work_;
  Problems secrets_;
  Background<Followed> following_{};
  std::optional<Followed> followed_{};
  std::optional<Problems> early_{};  ///< once they were searched
  std::optional<Problems> late_{};
  bool reported_{false};
  bool installs_with_pip_{false};
};

}  // namespace autopack::pipeline
