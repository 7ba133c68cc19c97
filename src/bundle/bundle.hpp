#pragma once

#include "image/process_user.hpp"
#include "image/root_tree.hpp"
#include "image/source.hpp"
#include "image/tar.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace autopack::bundle {

/// The user who starts the programs of an OCI runtime bundle. root gets the owners, set-id bits,
/// devices and file capabilities of the image. For any other user all files belong to that user,
/// who is root in the container.
struct Starter {
  std::uint32_t user{0};
  std::uint32_t group{0};
  bool is_root{true};  ///< may have files of any owner

  /// Returns the user of this process. In a user namespace with few users, root is not `is_root`.
  static Starter this_user();
};

/// Writes an OCI runtime bundle of `source` to `directory`: `rootfs`, and `config.json`. It appears
/// as a whole; an older bundle by autopack is replaced. The same image and starter give the same
/// bytes. Reads each layer once. Throws Error(usage) if `directory` exists and is not a bundle by
/// autopack.
void write_bundle(const image::Source& source,
                  const std::filesystem::path& directory,
                  const Starter& starter = Starter::this_user(),
                  const image::RootLimits& limits = {});

/// Passes the same bundle as a tar to `out`, with the paths `rootfs/...` and `config.json`, for
/// `tar -x` as `starter`, who is not root. Reads each layer twice.
void write_bundle_archive(const image::Source& source,
                          const Starter& starter,
                          image::TarWriter::Take out);

/// Returns the `config.json` of a bundle: the image's program, without namespaces of the network
/// and cgroups, so that it has the machine's. `read` returns files of the image.
std::string bundle_configuration(const image::Source& source,
                                 const Starter& starter,
                                 const image::ReadFile& read);

}  // namespace autopack::bundle
