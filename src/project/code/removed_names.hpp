#pragma once

#include "project/code/python_file.hpp"
#include "project/tables/tables.hpp"
#include "python/version.hpp"

#include <optional>
#include <string_view>

namespace autopack::project {

/// A removed name that an import uses.
struct RemovedImport {
  const RemovedName* row{nullptr};
  std::string_view name{};  ///< `Hashable` of `collections`, or `imp`
};

/// Returns the name in `import` that the standard library of `python` no longer has, or nothing.
/// Source: "What's New In Python 3.8" to "3.13".
std::optional<RemovedImport> find_removed(const Import& import, const python::Version& python);

/// Returns the row of a top-level module that `python` no longer has; null if it has it, or never
/// had it.
const RemovedName* find_removed_module(std::string_view module, const python::Version& python);

}  // namespace autopack::project
