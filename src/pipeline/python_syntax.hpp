#pragma once

#include "packaging/packaging.hpp"
#include "plan/syntax_advice.hpp"

#include <vector>

namespace autopack::pipeline {

/// Checks the `reached` files of `work` with a Python of this machine, of the executor image's
/// version or newer. It parses them and runs nothing. Checks each content once; without such a
/// Python, reports nothing. Uses no network and no engine.
plan::SyntaxFaults judge_syntax(const packaging::Packaging& work,
                                const std::vector<plan::ReachedFile>& reached);

}  // namespace autopack::pipeline
