#pragma once

#include "google/api_error.hpp"
#include "job/job.hpp"

#include <string>
#include <vector>

namespace autopack::submit {

/// Remedies for what Vertex AI said, as commands where possible (vertex.md section 7); empty when
/// none is known.
std::vector<std::string> vertex_hints(const google::ApiError& error, const job::Location& location);

}  // namespace autopack::submit
