#pragma once

#include "image/root_tree.hpp"
#include "image/source.hpp"

#include <filesystem>

namespace autopack::bundle {

/// Writes the root file system of `source` to `file` as a squashfs, with the owners, modes, devices
/// and attributes of the image, whoever writes it. enroot, pyxis and apptainer find the image's
/// program, directory and variables in files that are added: `/etc/rc`, `/etc/environment` and
/// `/.singularity.d`. The file appears as a whole, and replaces another one. The same image gives
/// the same bytes with the same versions of libsquashfs and libzstd. Reads each layer once. Throws
/// Error(environment).
void write_squashfs(const image::Source& source,
                    const std::filesystem::path& file,
                    const image::RootLimits& limits = {});

}  // namespace autopack::bundle
