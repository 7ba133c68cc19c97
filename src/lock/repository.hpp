#pragma once

#include "lock/locked_set.hpp"

#include <string>
#include <string_view>

namespace autopack::lock {

/// Records `source`, from which `package` is built. If its URL is invalid or contains a login, or
/// its commit is not a full hash, marks `package` as needing the engine instead.
void set_repository(LockedPackage& package, LockedSource source);

/// The same for a requirement in pip's syntax: `git+https://host/x.git@COMMIT#subdirectory=y`.
void set_repository(LockedPackage& package, std::string_view requirement);

}  // namespace autopack::lock
