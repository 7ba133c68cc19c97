#pragma once

#include "image/source.hpp"
#include "image/tar.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace autopack::image {

/// Puts `image` into the OCI layout at `directory`, which is made when it is missing, in place of
/// the image that has the same `tag` (empty: that has none). Others stay. Blobs come first and the
/// index last, so that a reader or a kill never sees half an image. Throws Error(usage) when
/// something else stands there.
void write_layout(const Source& image,
                  const std::filesystem::path& directory,
                  const std::string& tag);

/// Writes `image` as a tar that is an OCI layout and what `docker load` takes; `names` are given to
/// it there. The first `left_out` layers are not in it: an engine that has them does without.
void write_archive(const Source& image,
                   const std::vector<std::string>& names,
                   std::size_t left_out,
                   const TarWriter::Take& out);

}  // namespace autopack::image
