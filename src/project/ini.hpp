#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

/// An ini file as Python's RawConfigParser reads it: section, then option in lower case with `-` as
/// written, then value; the lines of a longer value are joined by line feeds.
using Ini = std::map<std::string, std::map<std::string, std::string>, std::less<>>;

/// Lines that are neither section, option nor continuation are skipped, as setuptools' users expect
/// the build to name them.
Ini parse_ini(std::string_view text);

/// None when section or option is not there.
std::optional<std::string> find_option(const Ini& ini,
                                       std::string_view section,
                                       const std::string& option);

}  // namespace autopack::project
