#pragma once

#include "cli/command.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace autopack::cli {

/// Prints a cancelled job on standard output, and what became of it on standard error.
int report_cancelled(Session& session,
                     const nlohmann::json& job,
                     const std::string& name,
                     bool had_ended);

/// Prints `jobs` on standard output in the requested `--format`.
int report_list(Session& session, const std::vector<nlohmann::json>& jobs);

/// Prints a job on standard output, and warns about the known reason of a failure.
int report_job(Session& session, const nlohmann::json& job);

/// Prints an ended job on standard output. Throws submit::failure_of.
int report_ended(Session& session, const nlohmann::json& job, const std::string& name);

}  // namespace autopack::cli
