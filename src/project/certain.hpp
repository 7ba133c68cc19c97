#pragma once

#include "base/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

/// The check that `--skip-checks=program` skips.
inline constexpr std::string_view program_check{"program"};

/// Marks `problem`, a warning, as one that certainly ends the program at its start: `submit` and
/// `tune` refuse it before anything is built, other commands warn.
inline Problem certain(Problem problem) {
  problem.check = std::string{program_check};
  return problem;
}

/// Returns true for a result of certain().
inline bool is_certain(const Problem& problem) {
  return problem.check == program_check;
}

}  // namespace autopack::project
