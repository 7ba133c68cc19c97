#pragma once

#include "python/interpreter.hpp"

#include <string>

namespace autopack::resolve {

/// Returns a shell script that stands in for `interpreter` when uv asks for its description: it
/// prints the description and can do nothing else, so no build of a stranger runs. `path` is where
/// the script will be, `directory` an empty directory. The format is that of uv 0.13.
std::string interpreter_script(const python::Interpreter& interpreter,
                               const std::string& path,
                               const std::string& directory);

}  // namespace autopack::resolve
