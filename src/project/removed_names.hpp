#pragma once

#include "project/python_file.hpp"
#include "project/tables.hpp"
#include "python/version.hpp"

#include <optional>
#include <string_view>

namespace autopack::project {

/// A removed name that an import asks for.
struct RemovedImport {
  const RemovedName* row{nullptr};
  std::string_view name{};  ///< `Hashable` of `collections`, or `imp`
};

/// What `import` asks of Python's own library and `python` no longer has; none when it has all.
/// Facts of "What's New In Python 3.8" to "3.13".
std::optional<RemovedImport> find_removed(const Import& import, const python::Version& python);

/// The row of a top-level module that `python` no longer has; null when it has it, or never had.
const RemovedName* find_removed_module(std::string_view module, const python::Version& python);

}  // namespace autopack::project
