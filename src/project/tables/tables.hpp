#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>

/// Facts about public distributions and Python's own library, generated from the text files in
/// src/project/tables. Each file names its source and date.
namespace autopack::project {

using DistributionRow = std::pair<std::string_view, std::string_view>;

/// Modules whose distribution has another name, or that several provide; the preferred one first. A
/// leading `-`: none is suggested. `<82` after a name: the versions that provide it.
std::span<const DistributionRow> modules_of_other_names();

/// Modules with the name of their distribution, with `-` for `_`; sorted.
std::span<const std::string_view> modules_of_same_names();

/// The left distribution, by its PEP 503 name, requires those on the right.
std::span<const DistributionRow> known_requirements();

/// The top-level modules of Python's own library, of any version from 3.7 to 3.14; sorted.
std::span<const std::string_view> standard_module_names();

/// A name that the standard library no longer has.
struct RemovedName {
  std::string_view module{};
  std::string_view names{};  ///< of the module, separated by blanks; empty: the module itself
  unsigned minor{0};         ///< 3.minor is the first version without it
  std::optional<std::string_view> instead{};  ///< the replacement, if any

  /// Returns true if the whole module was removed.
  bool is_module() const { return names.empty(); }
};

std::span<const RemovedName> removed_names();

}  // namespace autopack::project
