#pragma once

#include "compare/contents.hpp"
#include "packaging/packaging.hpp"

#include <string>
#include <vector>

namespace autopack::compare {

/// Returns the project's own files in an image of `work`, at their places there, without installed
/// packages.
Contents contents_of(const packaging::Packaging& work, const std::string& name);

/// Returns the changes in the installation from `before` to `after`, in words: `requirements.txt
/// changed (numpy 2.1 -> 2.2)`.
std::vector<std::string> installation_changes(const packaging::Packaging& before,
                                              const packaging::Packaging& after);

}  // namespace autopack::compare
