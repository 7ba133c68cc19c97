#pragma once

#include "image/file_reference.hpp"
#include "image/source.hpp"

#include <string>

namespace autopack::image {

/// The image in files that `reference` names, for `platform`. Throws Error(usage) when there is
/// none or more than one, Error(environment) when files are damaged.
Source open_files(const FileReference& reference, const std::string& platform);

}  // namespace autopack::image
