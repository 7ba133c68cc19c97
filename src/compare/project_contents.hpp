#pragma once

#include "compare/contents.hpp"
#include "packaging/packaging.hpp"

#include <string>
#include <vector>

namespace autopack::compare {

/// What of the project's own files an image of `work` would hold, at their places there; what would
/// be installed is not among it.
Contents contents_of(const packaging::Packaging& work, const std::string& name);

/// What `after` installs other than `before`, in words: `requirements.txt changed (numpy 2.1 ->
/// 2.2)`.
std::vector<std::string> installation_changes(const packaging::Packaging& before,
                                              const packaging::Packaging& after);

}  // namespace autopack::compare
