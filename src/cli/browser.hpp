#pragma once

#include "base/environment.hpp"

#include <string>

namespace autopack::cli {

/// Opens `address` in the browser named by BROWSER, or on a machine with a display in the one that
/// xdg-open finds, and does not wait for it. Returns false if there is none.
bool open_browser(const std::string& address, const Environment& environment);

}  // namespace autopack::cli
