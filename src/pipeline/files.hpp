#pragma once

#include "pipeline/package.hpp"

namespace autopack::pipeline {

/// Makes the image of `plan` for `request.outputs` alone: put together here when nothing has to be
/// installed, or when a registry has the dependency image; else built by the docker engine and
/// taken out of it.
Image package_to_files(Services& services,
                       const PackageRequest& request,
                       const Scanned& scanned,
                       const plan::Plan& plan,
                       const Reasons& reasons,
                       const ImageName& name);

/// Writes an image that was pushed to `request.outputs`, too.
void write_pushed(Services& services,
                  const PackageRequest& request,
                  const plan::Plan& plan,
                  const ImageName& name,
                  Image& image);

/// Sees to it that the engine has an executor image that is in files, under image::build_name.
void load_base(Services& services, const plan::Plan& plan);

}  // namespace autopack::pipeline
