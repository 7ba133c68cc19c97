#pragma once

#include "base/error.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::preflight {

/// Unknown: the check could not be made, which says nothing about the job and blocks nothing.
enum class Result { ok, warning, error, unknown };

/// Name as it stands in `--format=json`.
std::string_view to_string(Result outcome);

/// What one check found.
struct Finding {
  std::string check{};  ///< its short name: `quota`
  Result outcome{Result::ok};
  std::string what{};                   ///< lower case, no final period, the thing in backticks
  std::string why{};                    ///< what comes of it, or how it is known; may be empty
  std::vector<std::string> remedies{};  ///< commands where possible
};

using Findings = std::vector<Finding>;

/// Checks return these; each is one finding of the check named `check`.
Finding ok(std::string check, std::string what, std::string why = {});
Finding warning(std::string check,
                std::string what,
                std::string why,
                std::vector<std::string> remedies = {});
Finding failing(std::string check,
                std::string what,
                std::string why,
                std::vector<std::string> remedies = {});
Finding unknown(std::string check,
                std::string what,
                std::string why,
                std::vector<std::string> remedies = {});

/// Without those that say the same again.
Findings without_repeats(Findings findings);

/// Without repeats, errors first, then warnings, unknowns and the rest; else
/// in the order found.
Findings in_order(Findings findings);

bool has_errors(const Findings& findings);

/// For messages of submit: warnings and errors, each with its reason.
Problems to_problems(const Findings& findings);

}  // namespace autopack::preflight
