#pragma once

#include "job/location.hpp"
#include "packaging/image_name.hpp"

#include <optional>
#include <string>

namespace autopack::pipeline {

/// Returns `output_image` if given (with a digest: throws Error(usage)); else
/// `REGION-docker.pkg.dev/PROJECT/autopack/<job name>`, or without project or region `autopack/<job
/// name>` in the engine.
packaging::ImageName name_image(const std::optional<std::string>& output_image,
                                const std::string& job_name,
                                const job::Location& location);

}  // namespace autopack::pipeline
