#pragma once

#include "image/facts.hpp"
#include "image/source.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace autopack::image {

/// Tells which of some absolute paths exist in an image, with the target of symbolic links.
using Look = std::function<std::map<std::string, std::string>(const std::vector<std::string>&)>;

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

/// The facts of an image, from its configuration and the tar headers of its layers: all of it is
/// read once, nothing is kept.
BaseFacts read_facts(const Source& source);

/// True when an image of platform `have` serves for `wanted`: variants are compared when both say.
bool platform_fits(const std::string& have, const std::string& wanted);

/// Throws Error(usage) when the image `reference` is for another platform than `wanted`.
void check_platform(const std::string& have,
                    const std::string& reference,
                    const std::string& wanted);

}  // namespace autopack::image
