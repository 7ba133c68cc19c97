#pragma once

#include "python/interpreter.hpp"
#include "wheel/texts.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::wheel {

/// The file of a program, as pip 26 writes it for the interpreter at `executable`.
std::string launcher_text(const EntryPoint& entry, std::string_view executable);

/// The programs that pip makes of `entry_points`: those of pip and easy_install by the version of
/// the interpreter, all others as they are.
std::vector<EntryPoint> launchers(const EntryPoints& entry_points, const python::Version& version);

}  // namespace autopack::wheel
