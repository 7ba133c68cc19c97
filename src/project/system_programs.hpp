#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// The Debian package that has `program`: `imagemagick` for `convert`. Nothing if it is not known;
/// no package of pip brings these.
std::optional<std::string_view> package_of_program(std::string_view program);

/// Whether one of the Debian `packages` brings `program`; nothing if one of them is not known.
std::optional<bool> is_in_packages(std::string_view program,
                                   const std::vector<std::string>& packages);

/// The distribution (PEP 503 name) that brings the console script `program`: `torch` for
/// `torchrun`. Nothing if it is not known.
std::optional<std::string_view> distribution_of_program(std::string_view program);

}  // namespace autopack::project
