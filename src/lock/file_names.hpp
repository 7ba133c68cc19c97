#pragma once

#include "python/version.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace autopack::lock {

/// The last component of a URL's path, or of a path, percent signs decoded in a URL.
std::string file_name_of(std::string_view source);

/// True for `.whl`.
bool is_wheel(std::string_view file);

/// Name (PEP 503) and version of a source distribution: `x_y-1.0.tar.gz`, `.zip`; none for another
/// name.
std::optional<std::pair<std::string, python::Version>> parse_source_name(std::string_view file);

}  // namespace autopack::lock
