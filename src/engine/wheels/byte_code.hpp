#pragma once

#include "engine/direct/recipes.hpp"
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

namespace autopack::engine {

/// A Python that compiles sources for the Python of an executor image.
struct ByteCompiler {
  std::string words{};     ///< for people: `python3.11 of this machine`
  std::string identity{};  ///< the same for the same byte code
  /// What the program of compile_sources() prints for an input.
  std::function<std::string(const std::string& input)> run{};
};

/// A Python of this machine whose byte code `interpreter` takes: CPython of the same release
/// series, both final. None when PATH has none.
std::optional<ByteCompiler> find_compiler_here(const Services& services,
                                               const python::Interpreter& interpreter);

/// The same, else the interpreter of the executor image of `work` itself, in the docker engine.
/// Throws Error(environment) when there is neither.
ByteCompiler find_compiler(Services& services,
                           const packaging::Packaging& work,
                           const python::Interpreter& interpreter);

/// How a Python is started to compile sources.
std::vector<std::string> byte_compiler_command(const std::string& python);
std::map<std::string, std::string> byte_compiler_environment();

/// Byte code of a module.
struct CompiledModule {
  std::string path{};                  ///< in the image: `.../__pycache__/name.cpython-311.pyc`
  std::optional<std::string> bytes{};  ///< none where the source does not compile
};

struct SourceModule {
  std::string path{};  ///< in the image, without a slash at its begin
  std::string text{};
};

/// The byte code of `sources`, in their order, that Python takes without a look at its source
/// (PEP 552, unchecked). Throws Error(environment) when `compiler` answers something else.
std::vector<CompiledModule> compile_sources(const ByteCompiler& compiler,
                                            const std::vector<SourceModule>& sources);

/// The key of the byte code of the layer `layer_key`.
std::string byte_code_key(const ByteCompiler& compiler, const std::string& layer_key);

/// A layer of the byte code of all modules in `layer`.
LayerRecipe byte_code_of(const std::shared_ptr<const ByteCompiler>& compiler,
                         const wheel::LayerGroup& layer,
                         const LayerRecipe& recipe,
                         const std::shared_ptr<const std::vector<wheel::ChosenWheel>>& wheels,
                         const wheel::Place& place);

}  // namespace autopack::engine
