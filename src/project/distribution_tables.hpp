#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace autopack::project {

using DistributionRow = std::pair<std::string_view, std::string_view>;

/// Modules whose distribution has another name, or that several provide; the one to suggest first.
/// `-` in front: none is suggested. `<82` behind a name: the versions that provide it.
std::span<const DistributionRow> modules_of_other_names();

/// Modules whose distribution has their name, with `-` for `_`; a blank between two.
std::string_view modules_of_same_names();

/// Left, by its PEP 503 name, requires what stands right.
std::span<const DistributionRow> known_requirements();

}  // namespace autopack::project
