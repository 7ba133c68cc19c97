#pragma once

#include "image/layer_tree.hpp"

#include <optional>
#include <string>

namespace autopack::executor {

/// What is remembered of an image's files for the facts of its Python, by their paths: programs and
/// C libraries as ProgramText, settings as they are, of a distribution its name and version and
/// what was installed of it, of compiled files and of directories that they exist.
std::optional<std::string> note_for_python(const image::ArchiveEntry& entry,
                                           const image::Reader& content);

}  // namespace autopack::executor
