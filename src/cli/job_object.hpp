#pragma once

#include "job/job.hpp"
#include "job/location.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace autopack::cli {

/// What a page shows of a job whose packaged pools, if it has any, run `image`: its facts, and its
/// worker pools in their order, an empty one as a name alone. Of environment variables it holds the
/// names; words of commands that look like a secret are `***`.
nlohmann::json job_object(const job::Job& job,
                          const std::optional<std::string>& image,
                          const job::Location& location);

}  // namespace autopack::cli
