#pragma once

#include "base/digest.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace autopack::state {

/// The manifest that was pushed last to each repository, one small file each. While the repository
/// still has it, its layers are there too, by the registry's own rule. A damaged record counts as
/// absent, and a failure to write is no error.
class PushedImages {
public:
  /// `limit` bounds the directory, in bytes; the oldest files go first.
  explicit PushedImages(std::filesystem::path directory, std::uint64_t limit = 1'000'000)
      : directory_{std::move(directory)}, limit_{limit} {}

  /// `repository` is `host/path`.
  std::optional<Digest> get(const std::string& repository) const;
  void put(const std::string& repository, const Digest& manifest) const;

private:
  std::filesystem::path directory_;
  std::uint64_t limit_;
};

}  // namespace autopack::state
