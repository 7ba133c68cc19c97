#pragma once

#include "packaging/wanted.hpp"

#include <optional>
#include <string>

namespace autopack::pipeline {

/// What goes into the image, in a line: "42 files, 1.2 MB: module `trainer.task`,
/// `requirements.txt`".
std::string scanned_text(const plan::Plan& plan);

/// What goes in although git ignores it, in a line.
std::optional<std::string> kept_text(const packaging::ScannedProject& scanned);

/// What stays out because git ignores it, though the program names it, in a line.
std::optional<std::string> ignored_text(const packaging::ScannedProject& scanned);

}  // namespace autopack::pipeline
