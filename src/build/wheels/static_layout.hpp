#pragma once

#include "project/code/setup_py.hpp"

#include <map>
#include <string>

namespace autopack::build {

/// The texts of a source distribution's files, by their paths.
using SourceFiles = std::map<std::string, std::string>;

struct StaticWheel {
  std::string name{};   ///< of the file
  std::string bytes{};  ///< of the archive
};

/// Returns the wheel that setuptools makes of `files`, whose setup.py is `setup` and has
/// `certain_files`. Throws Error(project) if only setuptools can know it: a file is missing, the
/// files contradict each other, or setup.py imports a module that might change how setuptools
/// works.
StaticWheel lay_out(const project::SetupPy& setup, const SourceFiles& files);

}  // namespace autopack::build
