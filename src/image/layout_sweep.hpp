#pragma once

#include "base/digest.hpp"

#include <filesystem>
#include <vector>

namespace autopack::image {

/// Where the OCI layout at `directory` keeps a blob.
std::filesystem::path blob_path(const std::filesystem::path& directory, const Digest& digest);

/// Removes the blobs of `dropped`, manifests that the index of the OCI layout at `directory` names
/// no more, but for those that something in the index still needs. Blobs that no dropped manifest
/// names stay, and all of them when a manifest in the index cannot be read.
void sweep_layout(const std::filesystem::path& directory, const std::vector<Digest>& dropped);

}  // namespace autopack::image
