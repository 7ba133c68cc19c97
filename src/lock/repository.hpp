#pragma once

#include "lock/locked_set.hpp"

#include <string>
#include <string_view>

namespace autopack::lock {

/// Makes `source`, whose repository and commit need not be sound, what `package` is built from; or
/// `package` one for the engine, when the URL has a login or is none, or the commit is no full
/// name.
void set_repository(LockedPackage& package, LockedSource source);

/// The same of a requirement as pip writes it: `git+https://host/x.git@COMMIT#subdirectory=y`.
void set_repository(LockedPackage& package, std::string_view requirement);

}  // namespace autopack::lock
