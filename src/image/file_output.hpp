#pragma once

#include "image/source.hpp"
#include "image/tar.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace autopack::image {

/// Puts `image` into the OCI layout at `directory`, which is made when it is missing, in place of
/// the image that has the same `tag`, or none as well. Others stay. Blobs come first and the
/// index last, so that a reader or a kill never sees half an image. Throws Error(usage) when
/// something else stands there.
void write_layout(const Source& image,
                  const std::filesystem::path& directory,
                  const std::optional<std::string>& tag);

/// Makes one index of the images that have the tags `parts` in the OCI layout at `directory`. It
/// takes their place, and that of what had `tag` before, or of what had no tag when there is none.
/// Returns its digest. Throws Error(environment) when one of the images is not there.
Digest join_layout(const std::filesystem::path& directory,
                   const std::vector<std::string>& parts,
                   const std::optional<std::string>& tag);

/// Takes the images that have the tags `parts` out of the OCI layout at `directory`, with what they
/// alone need. A layout that cannot be read stays as it is.
void discard_parts(const std::filesystem::path& directory, const std::vector<std::string>& parts);

/// Writes `image` as a tar that is an OCI layout and what `docker load` takes; `names` are given to
/// it there. The first `left_out` layers are not in it: an engine that has them does without.
void write_archive(const Source& image,
                   const std::vector<std::string>& names,
                   std::size_t left_out,
                   const TarWriter::Take& out);

}  // namespace autopack::image
