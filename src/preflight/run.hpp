#pragma once

#include "base/report.hpp"
#include "preflight/problems.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace autopack::preflight {

/// One check that asks somebody. An Error that leaves it means that it could not be made.
struct Check {
  std::string name{};  ///< of its findings
  std::string what{};  ///< what stays unknown when it cannot be made
  std::function<Problems()> run{};
};

/// All checks together.
constexpr std::chrono::milliseconds time_for_checks{2'000};

/// Runs all at once. After `limit`, or when `user` is requested, it requests `stop`, which the
/// clients that the checks use must honour; what has no answer by then is unknown. Throws
/// Error(interrupted) when the user stopped it.
Problems run_checks(const std::vector<Check>& checks,
                    Cancellation& stop,
                    const Cancellation& user,
                    std::chrono::milliseconds limit = time_for_checks);

}  // namespace autopack::preflight
