#pragma once

#include "executor/python_library.hpp"
#include "python/interpreter.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::executor {

/// The directories in which pip installs as root, and in which the interpreter finds packages.
struct PythonPlaces {
  std::optional<std::string> obstacle{};  ///< why that is unknown
  python::Scheme scheme{};
  std::vector<std::string> site_directories{};  ///< in the order of sys.path
};

/// For an interpreter with `library`, in the virtual environment `environment`, if any.
PythonPlaces find_scheme(ImageView& view,
                         const PythonLibrary& library,
                         const PythonBuild& build,
                         const std::optional<VirtualEnvironment>& environment);

}  // namespace autopack::executor
