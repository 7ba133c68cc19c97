#pragma once

#include "base/error.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::preflight {

using Severity = Problem::Severity;

/// Helpers for checks; each returns one finding of the check named `check`.
Problem ok(std::string check, std::string message, std::optional<std::string> reason = {});
Problem warning(std::string check,
                std::string message,
                std::string reason,
                std::vector<std::string> hints = {});
Problem failing(std::string check,
                std::string message,
                std::string reason,
                std::vector<std::string> hints = {});
Problem unknown(std::string check,
                std::string message,
                std::string reason,
                std::vector<std::string> hints = {});

/// Removes duplicates.
Problems without_repeats(const Problems& problems);

/// Removes duplicates and sorts: errors, then warnings, unknowns and the rest; otherwise in the
/// order found.
Problems in_order(const Problems& problems);

}  // namespace autopack::preflight
