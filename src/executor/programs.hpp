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

namespace autopack::executor {

/// The minor versions of Python 3 that are looked for.
inline constexpr int oldest_minor{5};
inline constexpr int newest_minor{20};

/// Reports which of some absolute paths exist in an image, with the targets of symbolic links.
using Look = std::function<std::map<std::string, std::optional<std::string>>(
    const std::vector<std::string>&)>;

/// An interpreter on PATH.
struct PythonProgram {
  std::string name{};  ///< `python3` or `python`
  std::string path{};  ///< as found on PATH
  std::string file{};  ///< after following links
};

/// Returns the first `python3` on the PATH of `environment`, else the first `python`. Returns
/// nothing if there is neither, or only links that lead nowhere.
std::optional<PythonProgram> find_python(const std::vector<std::string>& environment,
                                         const Look& look);

/// Returns the value of `name` in `environment` (`NAME=value`), or nothing if it is unset or empty.
std::optional<std::string> variable(const std::vector<std::string>& environment,
                                    std::string_view name);

/// Finds the interpreter, its version and pip, apt-get and the version of CUDA; `facts` must
/// contain the environment.
void find_programs(image::BaseFacts& facts, const Look& look);

/// Returns those of `modules` (`numpy`, `google.cloud.storage`) that are in the package directories
/// of the interpreter that find_programs finds. Does not look for compiled modules outside
/// packages. `environment` is the image's.
std::vector<std::string> find_modules(const std::vector<std::string>& environment,
                                      const std::vector<std::string>& modules,
                                      const Look& look);

/// Like find_modules; `names` may also contain programs of PATH (`program:git`), shared libraries
/// (`library:libGL.so.1`) and absolute paths (`file:/etc/zoneinfo`).
/// Skips users (`user:4321`).
std::vector<std::string> find_contents(const std::vector<std::string>& environment,
                                       const std::vector<std::string>& names,
                                       const Look& look);

/// Returns the facts in the configuration of `source`: all but python, python_version, pip and apt.
image::BaseFacts configured_facts(const image::Source& source);

/// Returns the facts about an image, from its configuration and the tar headers of its layers.
/// Reads everything once and caches nothing.
image::BaseFacts read_facts(const image::Source& source);

/// Like read_facts, for layers that were already read.
image::BaseFacts facts_of(const image::Source& source, const image::LayerTree& tree);

/// True if an image of platform `have` can be used for `wanted`; compares variants only if both
/// have one.
bool platform_fits(const std::string& have, const std::string& wanted);

/// Throws Error(usage) if the image `reference` is for another platform than `wanted`.
void check_platform(const std::string& have,
                    const std::string& reference,
                    const std::string& wanted);

}  // namespace autopack::executor
