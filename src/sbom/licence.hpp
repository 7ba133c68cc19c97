#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::sbom {

/// Returns the identifiers of SPDX's licences and exceptions, sorted without regard to case.
std::span<const std::string_view> known_licences();

/// Returns `text` as an SPDX licence expression, with the identifiers in SPDX's spelling; nothing
/// if it is not one, or contains an identifier that SPDX does not have.
std::optional<std::string> licence_expression(std::string_view text);

/// Returns the licence that a trove classifier of Python's index names; nothing if it may mean
/// several.
std::optional<std::string> licence_of_classifier(std::string_view classifier);

/// Returns the licence that a Python distribution declares: its licence expression, else its
/// licence field if that is one, else its only classifier; nothing if that is not certain.
std::optional<std::string> python_licence(const std::optional<std::string>& expression,
                                          const std::optional<std::string>& field,
                                          const std::vector<std::string>& classifiers);

/// Returns the licences in a machine-readable `debian/copyright`, of all its files; nothing for
/// another file, and if SPDX has no identifier for one of them.
std::optional<std::string> debian_licence(std::string_view copyright);

}  // namespace autopack::sbom
