#pragma once

#include "plan/import_walk.hpp"

#include <map>
#include <string>
#include <vector>

namespace autopack::plan {

/// Why a Python does not take a file.
struct SyntaxFault {
  int line{0};            ///< 1-based; 0 when it does not say
  std::string message{};  ///< `invalid syntax`
  std::string python{};   ///< its version, as `3.11`
};

/// By path in the image; only of files that a Python was asked about.
using SyntaxFaults = std::map<std::string, SyntaxFault>;

/// A problem for each of the `reached` files that is not Python of the executor image: one with a
/// fault, one that prints as Python 2 does, one with commands of a notebook. What no Python was
/// asked about is only doubted.
Problems syntax_advice(const Plan& plan,
                       const std::vector<ReachedFile>& reached,
                       const SyntaxFaults& faults);

}  // namespace autopack::plan
