#pragma once

#include "source/tree.hpp"

#include <memory>
#include <string>

namespace autopack::source {

/// Returns `tree` with the file `path`, which it lacks, in one of its directories.
std::shared_ptr<const Tree> with_file(std::shared_ptr<const Tree> tree,
                                      std::string path,
                                      std::string text);

}  // namespace autopack::source
