#include "python/interpreter.hpp"

namespace autopack::python {

MarkerEnvironment marker_environment(const Interpreter& interpreter) {
  auto environment = environment_on_linux(interpreter.version, interpreter.machine);
  auto& variables = environment.variables;
  variables["platform_release"] = "";
  variables["platform_version"] = "";
  if (interpreter.implementation != "cpython") {
    variables["implementation_name"] = interpreter.implementation;
    variables["platform_python_implementation"] =
        interpreter.implementation == "pypy" ? "PyPy" : interpreter.implementation;
    // The implementation's version, not the language's.
    variables.erase("implementation_version");
  }
  return environment;
}

}  // namespace autopack::python
