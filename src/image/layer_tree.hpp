#pragma once

#include "image/source.hpp"

#include <map>
#include <string>
#include <vector>

namespace autopack::image {

/// What layers on top of each other leave of the files that tell which programs an image has:
/// executable files, symbolic links, and the marks of pip and of virtual environments. Read from
/// tar headers alone; what else an image holds is not remembered.
class LayerTree {
public:
  /// Puts a layer on top: a tar, plain or compressed with gzip or zstd, with its whiteouts. Reads
  /// `layer` to its end. The digest of the plain tar. Throws Error(environment) naming `what` when
  /// it is no such tar.
  Digest add(const Reader& layer, const std::string& what);

  /// Those of `paths` (absolute) that exist, each with the path behind all its links when it is a
  /// symbolic link (which need not exist), else empty: what engine::Docker::probe tells.
  std::map<std::string, std::string> look(const std::vector<std::string>& paths) const;

private:
  struct Entry;
  class Changes;

  std::string resolve(const std::string& path, bool last) const;

  /// Path without a leading slash -> target of a symbolic link, empty for a file.
  std::map<std::string, std::string> nodes_;
};

/// What the layers of `source` leave. Throws Error(remote) when one is not what the configuration
/// says of it: an image on top of it could not be run.
LayerTree read_layers(const Source& source);

}  // namespace autopack::image
