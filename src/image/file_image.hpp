#pragma once

#include "image/file_reference.hpp"
#include "image/source.hpp"

#include <string>

namespace autopack::image {

/// Opens the image in files that `reference` names, for `platform`. Throws Error(usage) if there is
/// no such image or more than one, Error(environment) if files are damaged.
Source open_files(const FileReference& reference, const std::string& platform);

}  // namespace autopack::image
