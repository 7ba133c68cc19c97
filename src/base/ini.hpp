#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack {

/// An ini file as Python's RawConfigParser reads it: section, then option in lower case with `-` as
/// written, then value; lines of a longer value are joined by line feeds.
using Ini = std::map<std::string, std::map<std::string, std::string>, std::less<>>;

/// Skips lines that are neither section, option nor continuation; the build will report them.
Ini parse_ini(std::string_view text);

/// Returns nothing if section or option is absent.
std::optional<std::string> find_option(const Ini& ini,
                                       std::string_view section,
                                       const std::string& option);

}  // namespace autopack
