#pragma once

#include "executor/image_view.hpp"
#include "executor/python_library.hpp"
#include "python/interpreter.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::executor {

/// The first interpreter in PATH, and its package directories.
struct FoundInterpreter {
  std::optional<python::Interpreter> interpreter{};
  std::optional<std::string> obstacle{};  ///< why it is unknown without running it
  std::string prefix{};                   ///< sys.prefix
  /// Directories of sys.path for packages, existing or not, in its order.
  std::vector<std::string> search_path{};
  /// Those whose `.pth` files are read.
  std::vector<std::string> site_directories{};
};

/// Searches an image for `platform` (`linux/amd64`) with `environment`.
FoundInterpreter find_interpreter(ImageView& view,
                                  const std::vector<std::string>& environment,
                                  const std::string& platform);

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
