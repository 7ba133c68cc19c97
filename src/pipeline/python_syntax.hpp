#pragma once

#include "packaging/packaging.hpp"
#include "plan/syntax_advice.hpp"

#include <vector>

namespace autopack::pipeline {

/// What a Python of this machine, of the executor image's version or newer, says of the `reached`
/// files of `work`. It parses them and runs nothing. Each content is asked about once; where no
/// such Python is found, nothing is claimed. Touches no network and no engine.
plan::SyntaxFaults judge_syntax(const packaging::Packaging& work,
                                const std::vector<plan::ReachedFile>& reached);

}  // namespace autopack::pipeline
