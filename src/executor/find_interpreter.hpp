#pragma once

#include "executor/image_view.hpp"
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

}  // namespace autopack::executor
