#pragma once

#include "python/version.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace autopack::lock {

/// Returns the last component of a path or of a URL's path. Decodes percent signs in a URL.
std::string file_name_of(std::string_view source);

/// True for a name that ends in `.whl`.
bool is_wheel(std::string_view file);

/// Returns name (PEP 503) and version of a source distribution: `x_y-1.0.tar.gz`, `.zip`. Returns
/// nothing for another name.
std::optional<std::pair<std::string, python::Version>> parse_source_name(std::string_view file);

}  // namespace autopack::lock
