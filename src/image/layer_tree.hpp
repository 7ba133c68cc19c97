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

/// Returns what LayerTree must remember about a file or a directory besides its name, or nothing.
/// It may leave `content` unread, wholly or in part.
using Notes =
    std::function<std::optional<std::string>(const ArchiveEntry& entry, const Reader& content)>;

/// The merged view of an image's layers. It keeps only the paths that show which programs an image
/// has: executable files, symbolic links, and the marker files of pip and of virtual environments.
/// It reads only tar headers, except for what `notes` reads.
class LayerTree {
public:
  LayerTree() = default;

  explicit LayerTree(Notes notes) : notes_{std::move(notes)} {}

  /// Adds a layer on top: a tar, optionally compressed with gzip or zstd, with its whiteouts. Reads
  /// `layer` to its end. Returns the digest of the uncompressed tar. Throws Error(environment)
  /// naming `what` if it is not such a tar.
  Digest add(const Reader& layer, const std::string& what);

  /// Adds the files of an uncompressed tar below `directory` (absolute); throws like add().
  void add_into(const std::string& directory, const Reader& tar, const std::string& what);

  /// Returns those of `paths` (absolute) that exist, like engine::Docker::probe. For a symbolic
  /// link, the value is the path behind all links, which need not exist.
  std::map<std::string, std::optional<std::string>> look(
      const std::vector<std::string>& paths) const;

  /// Returns the note about `path`, or about the target if it is a link; nothing if there is no
  /// note.
  std::optional<std::string> note(const std::string& path) const;

  /// True if anything remembered is below `directory`, after following its links.
  bool holds_below(const std::string& directory) const;

  /// Returns the paths of all notes below `directory`, after following its links; sorted.
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

/// Reads the layers of `source`, with `notes` if it is not empty. Throws Error(remote) if a layer
/// does not match the configuration: an image on top of it could not run.
LayerTree read_layers(const Source& source, Notes notes = {});

}  // namespace autopack::image
