#pragma once

#include "plan/plan.hpp"
#include "state/build_record.hpp"

#include <string>
#include <vector>

namespace autopack::plan {

/// What the image of `plan` is made of, to be kept for the next time. Above 1000 paths the code is
/// told by its top directories only.
state::BuildRecord record_of(const Plan& plan, const project::Project& project);

/// What is different between two builds, in words that follow "because":
/// `requirements.txt changed (numpy 2.1 -> 2.2)`, `trainer/task.py changed`.
struct Changes {
  std::vector<std::string> dependencies{};  ///< of what is installed; empty: the same key
  std::vector<std::string> code{};          ///< of what is copied and run
};

Changes changes(const state::BuildRecord& before, const state::BuildRecord& now);

/// `what` as one line: the first few, then how many more.
std::string summary(const std::vector<std::string>& what);

}  // namespace autopack::plan
