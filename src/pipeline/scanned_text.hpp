#pragma once

#include "packaging/wanted.hpp"

#include <optional>
#include <string>

namespace autopack::pipeline {

/// Returns a summary of the image's files in one line: "42 files, 1.2 MB: module `trainer.task`,
/// `requirements.txt`".
std::string scanned_text(const plan::Plan& plan);

/// Returns the files that are included although git ignores them, in one line.
std::optional<std::string> kept_text(const packaging::ScannedProject& scanned);

/// Returns the files that are excluded because git ignores them, though the program names them, in
/// one line.
std::optional<std::string> ignored_text(const packaging::ScannedProject& scanned);

}  // namespace autopack::pipeline
