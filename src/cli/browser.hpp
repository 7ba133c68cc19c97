#pragma once

#include "base/environment.hpp"

#include <string>

namespace autopack::cli {

/// Shows `address` in the browser that BROWSER names, or on a machine with a display in the one
/// that xdg-open finds, and does not wait for it. False when there is none.
bool open_browser(const std::string& address, const Environment& environment);

}  // namespace autopack::cli
