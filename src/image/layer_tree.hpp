#pragma once

#include "image/archive_reader.hpp"
#include "image/source.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::image {

/// What is to be remembered of a file or a directory besides its name; none when it may be
/// forgotten. `content` may be read, or not to its end.
using Notes =
    std::function<std::optional<std::string>(const ArchiveEntry& entry, const Reader& content)>;

/// What layers on top of each other leave of the files that tell which programs an image has:
/// executable files, symbolic links, and the marks of pip and of virtual environments. Read from
/// tar headers alone, but for what `notes` read; what else an image holds is not remembered.
class LayerTree {
public:
  LayerTree() = default;

  explicit LayerTree(Notes notes) : notes_{std::move(notes)} {}

  /// Puts a layer on top: a tar, plain or compressed with gzip or zstd, with its whiteouts. Reads
  /// `layer` to its end. The digest of the plain tar. Throws Error(environment) naming `what` when
  /// it is no such tar.
  Digest add(const Reader& layer, const std::string& what);

  /// Puts the files of a plain tar into `directory` (absolute); throws as `add` does.
  void add_into(const std::string& directory, const Reader& tar, const std::string& what);

  /// Those of `paths` (absolute) that exist, each with the path behind all its links when it is a
  /// symbolic link (which need not exist): what engine::Docker::probe tells.
  std::map<std::string, std::optional<std::string>> look(
      const std::vector<std::string>& paths) const;

  /// What was noted of what stands at `path` or behind the link there; none when nothing was.
  std::optional<std::string> note(const std::string& path) const;

  /// True when something that is remembered lies below `directory`, whose links are followed.
  bool holds_below(const std::string& directory) const;

  /// Paths of all that was noted below `directory`, whose links are followed; sorted.
  std::vector<std::string> noted_below(const std::string& directory) const;

private:
  struct Node {
    std::optional<std::string> target{};  ///< of a symbolic link
    std::optional<std::string> note{};
    bool is_directory{false};
  };

  /// By path without a leading slash.
  using Nodes = std::map<std::string, Node>;
  class Changes;

  static void erase_below(Nodes& nodes, const std::string& path);
  static void erase_above(Nodes& nodes, const std::string& path);
  std::string resolve(const std::string& path, bool last) const;

  Notes notes_{};
  Nodes nodes_{};
};

/// What the layers of `source` leave, with `notes` of it if there are any. Throws Error(remote)
/// when one is not what the configuration says of it: an image on top of it could not be run.
LayerTree read_layers(const Source& source, Notes notes = {});

}  // namespace autopack::image
