#pragma once

#include "pipeline/package.hpp"

#include <map>
#include <string>

namespace autopack::pipeline {

/// True when the files come from git's objects, not from the disk.
bool is_from_git(const PackageRequest& request);

/// Git's facts as labels of an image.
std::map<std::string, std::string> git_labels(const source::GitFacts& facts);

}  // namespace autopack::pipeline
