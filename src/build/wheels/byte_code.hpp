#pragma once

#include "build/direct/recipes.hpp"
#include "packaging/packaging.hpp"
#include "python/interpreter.hpp"
#include "services/services.hpp"
#include "wheel/layers.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// A Python that compiles sources for the Python of an executor image.
struct ByteCompiler {
  std::string words{};     ///< for people: `python3.11 of this machine`
  std::string identity{};  ///< equal for equal byte code
  /// Runs the program of compile_sources() with an input, and returns its output.
  std::function<std::string(const std::string& input)> run{};
};

/// Returns a Python of this machine whose byte code `interpreter` accepts: CPython of the same
/// release series, both final. Returns nothing if PATH has none.
std::optional<ByteCompiler> find_compiler_here(const Services& services,
                                               const python::Interpreter& interpreter);

/// The same, else the interpreter of the executor image of `work` itself, in the docker engine.
/// Throws Error(environment) if there is neither.
ByteCompiler find_compiler(Services& services,
                           const packaging::Packaging& work,
                           const python::Interpreter& interpreter);

/// Returns the command that starts a Python to compile sources.
std::vector<std::string> byte_compiler_command(const std::string& python);
std::map<std::string, std::string> byte_compiler_environment();

/// The byte code of a module.
struct CompiledModule {
  std::string path{};                  ///< in the image: `.../__pycache__/name.cpython-311.pyc`
  std::optional<std::string> bytes{};  ///< absent if the source does not compile
};

struct SourceModule {
  std::string path{};  ///< in the image, without a leading slash
  std::string text{};
};

/// Returns the byte code of `sources`, in their order, for unchecked use (PEP 552): Python does not
/// compare it with the source. Throws Error(environment) if the output of `compiler` is invalid.
std::vector<CompiledModule> compile_sources(const ByteCompiler& compiler,
                                            const std::vector<SourceModule>& sources);

/// Returns the key of the byte code of the layer `layer_key`.
std::string byte_code_key(const ByteCompiler& compiler, const std::string& layer_key);

/// Returns a layer with the byte code of all modules in `layer`.
LayerRecipe byte_code_of(const std::shared_ptr<const ByteCompiler>& compiler,
                         const wheel::LayerGroup& layer,
                         const LayerRecipe& recipe,
                         const std::shared_ptr<const std::vector<wheel::ChosenWheel>>& wheels,
                         const wheel::Place& place);

}  // namespace autopack::build
