#pragma once

#include "executor/python_facts.hpp"
#include "image/facts.hpp"

#include <string>
#include <vector>

namespace autopack::rebase {

/// What matters of a base to the layers above it.
struct BaseSide {
  image::BaseFacts facts{};
  executor::PythonFacts python{};
};

/// What the layers of an image contain besides the program.
enum class OwnPackages { none, installed };

/// Returns the reasons why layers that were made for the base `before` do not fit on `after`, in
/// words; empty if they do.
std::vector<std::string> misfits(const BaseSide& before,
                                 const BaseSide& after,
                                 OwnPackages packages);

}  // namespace autopack::rebase
