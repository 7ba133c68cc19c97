#pragma once

#include "base/digest.hpp"
#include "packaging/made_image.hpp"
#include "packaging/packaging.hpp"
#include "sbom/layer_survey.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <vector>

namespace autopack::pipeline {

/// The layers of a made image, with their packages.
struct SurveyedImage {
  Digest digest;                             ///< of its manifest, where it is
  std::vector<image::Descriptor> layers{};   ///< of its manifest
  std::vector<Digest> diff_ids{};            ///< of each layer
  std::vector<sbom::LayerSurvey> surveys{};  ///< of each layer
  std::size_t base_layers{0};                ///< the first ones are those of the executor image
  std::vector<std::string> created_by{};     ///< of each layer, by the image's history
  std::string configuration{};               ///< JSON
};

/// Reads the layers of `made` whose packages are not cached. Throws as image_sbom does.
SurveyedImage survey_image(Services& services,
                           const packaging::Packaging& work,
                           packaging::MadeImage& made);

}  // namespace autopack::pipeline
