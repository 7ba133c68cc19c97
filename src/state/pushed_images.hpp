#pragma once

#include "base/digest.hpp"
#include "state/store.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace autopack::state {

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

}  // namespace autopack::state
