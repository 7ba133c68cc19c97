#pragma once

#include "image/layer_tree.hpp"

#include <optional>
#include <string>

namespace autopack::executor {

/// Returns the excerpt of a file that the facts of an image's Python need, which depends on its
/// path: a ProgramText for programs and C libraries; the text of settings; name, version and
/// installed files of a distribution; an empty text for compiled files and directories.
std::optional<std::string> excerpt_for_python(const image::ArchiveEntry& entry,
                                              const image::Reader& content);

}  // namespace autopack::executor
