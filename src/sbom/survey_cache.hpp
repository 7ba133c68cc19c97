#pragma once

#include "base/digest.hpp"
#include "base/environment.hpp"
#include "sbom/layer_survey.hpp"
#include "state/store.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace autopack::sbom {

/// Caches what layers say about packages, by the digests of their uncompressed tars. Damaged files
/// count as absent; ignores failures to write.
class SurveyCache {
public:
  explicit SurveyCache(const Environment& environment)
      : store_{environment.cache_directory() / "layer-packages", limit} {}

  std::optional<LayerSurvey> get(const Digest& diff_id) const;
  void put(const Digest& diff_id, const LayerSurvey& survey) const;

private:
  static constexpr std::uint64_t limit{std::uint64_t{256} << 20U};

  state::Store store_;
};

}  // namespace autopack::sbom
