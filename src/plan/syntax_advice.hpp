#pragma once

#include "plan/import_walk.hpp"

#include <map>
#include <string>
#include <vector>

namespace autopack::plan {

/// A syntax error that a Python reports.
struct SyntaxFault {
  int line{0};            ///< 1-based; 0 if unknown
  std::string message{};  ///< `invalid syntax`
  std::string python{};   ///< its version, such as `3.11`
};

/// By path in the image; only files that a Python has checked.
using SyntaxFaults = std::map<std::string, SyntaxFault>;

/// Reports each of the `reached` files that is not Python of the executor image: with a syntax
/// error, with print statements of Python 2, or with commands of a notebook. For files that no
/// Python has checked, the finding is uncertain.
Problems syntax_advice(const Plan& plan,
                       const std::vector<ReachedFile>& reached,
                       const SyntaxFaults& faults);

}  // namespace autopack::plan
