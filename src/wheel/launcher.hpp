#pragma once

#include "python/interpreter.hpp"
#include "wheel/texts.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::wheel {

/// Returns the text of a launcher as pip 26 writes it for the interpreter at `executable`.
std::string launcher_text(const EntryPoint& entry, std::string_view executable);

/// Returns the launchers that pip makes for `entry_points`. Those of pip and easy_install depend on
/// the version of the interpreter; all others stay as they are.
std::vector<EntryPoint> launchers(const EntryPoints& entry_points, const python::Version& version);

}  // namespace autopack::wheel
