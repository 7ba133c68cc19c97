#pragma once

#include "sbom/bom.hpp"
#include "sbom/layer_survey.hpp"

#include <string>
#include <vector>

namespace autopack::sbom {

/// Returns the packages in `files`, those of a whole image: of dpkg, apk and Python, sorted by
/// their ids. Equal packages, such as a distribution in two directories, are one component.
std::vector<Component> packages_in(const SurveyedFiles& files);

/// The fact with the directory that contains a Python distribution.
inline constexpr auto* directory_fact = "autopack:directory";

}  // namespace autopack::sbom
