#pragma once

#include "image/facts.hpp"
#include "image/layer_tree.hpp"
#include "image/source.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::image {

/// Tells which of some absolute paths exist in an image, with the target of symbolic links.
using Look = std::function<std::map<std::string, std::optional<std::string>>(
    const std::vector<std::string>&)>;

/// An interpreter on PATH.
struct PythonProgram {
  std::string name{};  ///< `python3` or `python`
  std::string path{};  ///< where PATH has it
  std::string file{};  ///< behind its links
};

/// The first `python3` on the PATH of `environment`, else the first `python`; none when there is
/// neither, or only links that lead nowhere.
std::optional<PythonProgram> find_python(const std::vector<std::string>& environment,
                                         const Look& look);

/// The value of `name` in `environment` (`NAME=value`); none when it is not set or empty.
std::optional<std::string> variable(const std::vector<std::string>& environment,
                                    std::string_view name);

/// Finds the interpreter, its version and pip, apt-get and CUDA's version; `facts` must hold the
/// environment.
void find_programs(BaseFacts& facts, const Look& look);

/// Those of `modules` (`numpy`, `google.cloud.storage`) that lie where pip puts packages of the
/// interpreter that find_programs finds; compiled modules outside packages are not looked for.
/// `environment` is the image's.
std::vector<std::string> find_modules(const std::vector<std::string>& environment,
                                      const std::vector<std::string>& modules,
                                      const Look& look);

/// The same with the programs of PATH, as `program:git`, and shared libraries, as
/// `library:libGL.so.1`, among the names.
std::vector<std::string> find_contents(const std::vector<std::string>& environment,
                                       const std::vector<std::string>& names,
                                       const Look& look);

/// What the configuration of `source` tells: all facts but python, python_version, pip and apt.
BaseFacts configured_facts(const Source& source);

/// The facts of an image, from its configuration and the tar headers of its layers: all of it is
/// read once, nothing is kept.
BaseFacts read_facts(const Source& source);

/// The same, of layers that were read already.
BaseFacts facts_of(const Source& source, const LayerTree& tree);

/// True when an image of platform `have` serves for `wanted`: variants are compared when both say.
bool platform_fits(const std::string& have, const std::string& wanted);

/// Throws Error(usage) when the image `reference` is for another platform than `wanted`.
void check_platform(const std::string& have,
                    const std::string& reference,
                    const std::string& wanted);

}  // namespace autopack::image
