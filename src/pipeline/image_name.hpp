#pragma once

#include "job/location.hpp"
#include "packaging/image_name.hpp"

#include <optional>
#include <string>

namespace autopack::pipeline {

/// Returns `output_image` if given, with the region of `location` for the word `REGION` (with a
/// digest, or without a region for that word: throws Error(usage)); else
/// `REGION-docker.pkg.dev/PROJECT/autopack/<job name>`, or without project or region `autopack/<job
/// name>` in the engine.
packaging::ImageName name_image(const std::optional<std::string>& output_image,
                                const std::string& job_name,
                                const job::Location& location);

/// Returns the name of the pushed image `uri` for a job in `region`: `uri` itself, or with its
/// digest in that region's repository if `output_image` has the word `REGION`.
std::string image_in_region(const std::string& uri,
                            const std::optional<std::string>& output_image,
                            job::Location location,
                            const std::string& region);

}  // namespace autopack::pipeline
