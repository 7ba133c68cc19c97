#pragma once

#include "executor/image_view.hpp"
#include "python/interpreter.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::executor {

/// The interpreter that PATH finds first, and where it looks for packages.
struct FoundInterpreter {
  std::optional<python::Interpreter> interpreter{};
  std::optional<std::string> obstacle{};  ///< why it cannot be told without running it
  std::string prefix{};                   ///< sys.prefix
  /// Directories of sys.path that packages lie in, whether they exist or not, in its order.
  std::vector<std::string> search_path{};
  /// Those of them whose `.pth` files are read.
  std::vector<std::string> site_directories{};
};

/// Looks through an image for `platform` (`linux/amd64`) with `environment`.
FoundInterpreter find_interpreter(ImageView& view,
                                  const std::vector<std::string>& environment,
                                  const std::string& platform);

}  // namespace autopack::executor
