#pragma once

#include "executor/python_facts.hpp"
#include "image/facts.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::rebase {

/// What matters of a base to the layers above it.
struct BaseSide {
  image::BaseFacts facts{};
  executor::PythonFacts python{};
};

/// What the layers of an image contain besides the program.
struct OwnPackages {
  bool installed{false};
  /// Names of packages of the base that they count on, replace or hide; absent if unknown.
  std::optional<std::set<std::string, std::less<>>> of_base{};
};

/// Returns the reasons why layers that were made for the base `before` do not fit on `after`, in
/// words; empty if they do.
std::vector<std::string> misfits(const BaseSide& before,
                                 const BaseSide& after,
                                 const OwnPackages& packages);

}  // namespace autopack::rebase
