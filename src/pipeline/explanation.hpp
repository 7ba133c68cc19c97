#pragma once

#include "pipeline/package.hpp"

#include <string>

namespace autopack::pipeline {

/// What goes into the image and what is left out, for people.
std::string explain(const Scanned& scanned, const plan::Plan& plan);

}  // namespace autopack::pipeline
