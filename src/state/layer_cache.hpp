#pragma once

#include "image/layer.hpp"
#include "state/store.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace autopack::state {

/// Caches the facts about compressed layers, by the key of their recipe (build::LayerRecipe::key).
/// Ignores damaged records.
class LayerCache {
public:
  explicit LayerCache(std::filesystem::path directory, std::uint64_t limit = 8'000'000)
      : store_{std::move(directory), limit} {}

  std::optional<image::LayerFacts> get(const std::string& key) const;
  void put(const std::string& key, const image::LayerFacts& facts) const;
  /// Removes all records, because another compressor made the bytes. Ignores failures.
  void clear() const;

private:
  Store store_;
};

}  // namespace autopack::state
