#pragma once

#include "image/layer.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace autopack::state {

/// What compressing a layer gave, by the key of its recipe (engine::LayerRecipe::key). A
/// damaged record counts as absent.
class LayerCache {
public:
  explicit LayerCache(std::filesystem::path directory, std::uint64_t limit = 8'000'000)
      : directory_{std::move(directory)}, limit_{limit} {}

  std::optional<image::LayerFacts> get(const std::string& key) const;
  void put(const std::string& key, const image::LayerFacts& facts) const;
  /// Forgets all: they are of another compressor's bytes. A failure is no error.
  void clear() const;

private:
  std::filesystem::path directory_;
  std::uint64_t limit_;
};

}  // namespace autopack::state
