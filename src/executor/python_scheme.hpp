#pragma once

#include "executor/python_library.hpp"
#include "python/interpreter.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::executor {

/// Where pip, run as root, installs to, and where the interpreter finds it.
struct PythonPlaces {
  std::optional<std::string> obstacle{};  ///< why that is not known
  python::Scheme scheme{};
  std::vector<std::string> site_directories{};  ///< in the order of sys.path
};

/// Of an interpreter with `library`, in `environment` when it is one's.
PythonPlaces find_scheme(ImageView& view,
                         const PythonLibrary& library,
                         const PythonBuild& build,
                         const std::optional<VirtualEnvironment>& environment);

}  // namespace autopack::executor
