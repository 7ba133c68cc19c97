#pragma once

#include "image/source.hpp"
#include "image/tar.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace autopack::image {

/// Writes `image` into the OCI layout at `directory`, which is created if necessary. It replaces
/// the image with the same `tag`, or the image without a tag if `tag` is absent. Other images stay.
/// The blobs are written first and the index last, so that a reader never sees a partial image,
/// even after a kill. Throws Error(usage) if `directory` exists and is not an OCI layout.
void write_layout(const Source& image,
                  const std::filesystem::path& directory,
                  const std::optional<std::string>& tag);

/// Makes one index of the images with the tags `parts` in the OCI layout at `directory`. The index
/// replaces these images, and the entry that had `tag` before (the entry without a tag if `tag` is
/// absent). Returns its digest. Throws Error(environment) if one of the images does not exist.
Digest join_layout(const std::filesystem::path& directory,
                   const std::vector<std::string>& parts,
                   const std::optional<std::string>& tag);

/// Removes the images with the tags `parts` from the OCI layout at `directory`, with the blobs that
/// only they need. Does nothing if the layout cannot be read.
void discard_parts(const std::filesystem::path& directory, const std::vector<std::string>& parts);

/// Writes `image` as a tar that is both an OCI layout and an input of `docker load`, under `names`.
/// Omits the first `left_out` layers: the engine must already have them.
void write_archive(const Source& image,
                   const std::vector<std::string>& names,
                   std::size_t left_out,
                   const TarWriter::Take& out);

}  // namespace autopack::image
