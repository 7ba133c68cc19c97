#pragma once

#include "image/reference.hpp"
#include "job/location.hpp"
#include "plan/plan.hpp"

#include <string>

namespace autopack::pipeline {

/// Where a packaged image goes.
struct ImageName {
  image::Reference reference{};  ///< the user's tag in `tag`; empty when there is none
  bool has_registry{false};      ///< false: it stays in the daemon
  bool is_default{false};        ///< not the user's choice: its repository may be made

  /// `repository:ap-<16 hex>` for the image key of `plan`.
  image::Reference keyed(const plan::Plan& plan) const;
};

/// `output_image` when it is given (without a digest: Error(usage)); else
/// `REGION-docker.pkg.dev/PROJECT/autopack/<job name>`, or without project or region
/// `autopack/<job name>` in the daemon.
ImageName name_image(const std::string& output_image,
                     const std::string& job_name,
                     const job::Location& location);

/// `ap-` and the first 16 digits of `image_key`.
std::string key_tag(const std::string& image_key);

}  // namespace autopack::pipeline
