#pragma once

#include "job/job.hpp"
#include "job/location.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace autopack::cli {

/// Returns the description of a job for a page, where packaged pools run `image`: its facts, and
/// its worker pools in order, an empty one as a name alone. Contains only the names of environment
/// variables; words of commands that look like a secret are `***`.
nlohmann::json job_object(const job::Job& job,
                          const std::optional<std::string>& image,
                          const job::Location& location);

}  // namespace autopack::cli
