#pragma once

#include "base/digest.hpp"
#include "image/layer.hpp"
#include "state/store.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace autopack::state {

/// Stores results that are expensive to compute: texts by arbitrary names, in a directory of small
/// files. Ignores failures to write.
class Records {
public:
  /// `limit` is the size of the directory in bytes; the oldest files are removed first.
  explicit Records(std::filesystem::path directory, std::uint64_t limit = 64'000'000)
      : store_{std::move(directory), limit} {}

  /// Returns records that begin as a copy of these: they are read here until they are put there,
  /// in `directory`, and nothing is written here.
  Records changed_in(std::filesystem::path directory) const;

  /// Returns the record as it was stored, or nothing if there is none or its file is damaged.
  std::optional<std::string> get(const std::string& name) const;
  void put(const std::string& name, const std::string& record) const;

private:
  Store store_;
  std::shared_ptr<const Records> below_{};  ///< what the store lacks; null if there is nothing
};

/// Stores the manifest that was pushed last to each repository, in a small file each. As long as
/// the repository still has the manifest, it has the layers too, by the registry's own rules.
/// Ignores damaged records and failures to write.
class PushedImages {
public:
  /// `limit` is the size of the directory in bytes; the oldest files are removed first.
  explicit PushedImages(std::filesystem::path directory, std::uint64_t limit = 1'000'000)
      : store_{std::move(directory), limit} {}

  /// `repository` is `host/path`.
  std::optional<Digest> get(const std::string& repository) const;
  void put(const std::string& repository, const Digest& manifest) const;

private:
  Store store_;
};

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
