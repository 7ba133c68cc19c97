#include "sbom/survey_cache.hpp"

#include "image/archive_reader.hpp"
#include "image/layer.hpp"

namespace autopack::sbom {

namespace {

constexpr std::size_t largest_cached_survey{std::size_t{256} << 20U};

/// Change the ending if surveys change their meaning.
std::string name_of_survey(const Digest& diff_id) {
  return diff_id.hex() + ".1";
}

}  // namespace

std::optional<LayerSurvey> SurveyCache::get(const Digest& diff_id) const {
  return store_.get(name_of_survey(diff_id), [](const std::string& packed) {
    return survey_from_json(image::decompressed(packed, largest_cached_survey));
  });
}

void SurveyCache::put(const Digest& diff_id, const LayerSurvey& survey) const {
  store_.put(name_of_survey(diff_id), image::compressed(to_json(survey)));
}

}  // namespace autopack::sbom
