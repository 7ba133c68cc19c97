#pragma once

#include "project/code/python_tokens.hpp"

namespace autopack::project {

/// Returns true if no statement of a setup.py besides setup() changes more than a variable of the
/// file: it calls only functions that are known to be harmless, and assigns no attribute. Does not
/// judge what it imports.
bool only_setup_has_effect(Tokens tokens);

}  // namespace autopack::project
