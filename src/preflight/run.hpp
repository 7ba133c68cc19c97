#pragma once

#include "base/report.hpp"
#include "preflight/problems.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace autopack::preflight {

/// A check that sends requests. It throws Error if it could not run.
struct Check {
  std::string name{};  ///< the name in its findings
  std::string what{};  ///< what stays unknown if it fails
  std::function<Problems()> run{};
};

/// The limit for all checks together.
constexpr std::chrono::milliseconds time_for_checks{2'000};

/// Runs all checks concurrently. After `limit`, or if `user` is requested, it requests `stop`,
/// which the clients of the checks must obey. Reports checks without a result as unknown. Throws
/// Interrupted if the user stopped it.
Problems run_checks(const std::vector<Check>& checks,
                    Cancellation& stop,
                    const Cancellation& user,
                    std::chrono::milliseconds limit = time_for_checks);

}  // namespace autopack::preflight
