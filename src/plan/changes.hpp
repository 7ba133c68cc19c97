#pragma once

#include "plan/plan.hpp"
#include "state/build_record.hpp"

#include <string>
#include <vector>

namespace autopack::plan {

/// Returns the inputs of the image of `plan`, to compare with the next build. Above 1000 paths,
/// records only the top directories of the code.
state::BuildRecord record_of(const Plan& plan, const project::Project& project);

/// The differences between two builds, in words that follow "because": `requirements.txt changed
/// (numpy 2.1 -> 2.2)`, `trainer/task.py changed`.
struct Changes {
  std::vector<std::string> dependencies{};  ///< in the installation; empty: the same key
  std::vector<std::string> code{};          ///< in the copied code and its start
};

Changes changes(const state::BuildRecord& before, const state::BuildRecord& now);

/// Returns `what` as one line: the first few, then the number of others.
std::string summary(const std::vector<std::string>& what);

}  // namespace autopack::plan
