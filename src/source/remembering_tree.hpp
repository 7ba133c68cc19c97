#pragma once

#include "source/tree.hpp"

#include <memory>

namespace autopack::source {

/// `tree` as it was when each of its directories was first listed: later walks, and who looks for a
/// name in one of these or below what is no directory of it, ask the disk no more.
std::shared_ptr<const Tree> remembering(std::shared_ptr<const Tree> tree);

}  // namespace autopack::source
