#pragma once

#include "base/digest.hpp"

#include <filesystem>
#include <vector>

namespace autopack::image {

/// Returns the path of a blob in the OCI layout at `directory`.
std::filesystem::path blob_path(const std::filesystem::path& directory, const Digest& digest);

/// Removes the blobs of the manifests in `dropped`, which the index of the OCI layout at
/// `directory` no longer names, except those that the index still needs. Keeps blobs that no
/// dropped manifest names. Removes nothing if a manifest of the index cannot be read.
void sweep_layout(const std::filesystem::path& directory, const std::vector<Digest>& dropped);

}  // namespace autopack::image
