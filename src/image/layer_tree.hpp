#pragma once

#include "image/archive_reader.hpp"
#include "image/source.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::image {

/// Returns the excerpt of a file or a directory that LayerTree must keep, or nothing. It need not
/// read all of `content`.
using TakeExcerpt =
    std::function<std::optional<std::string>(const ArchiveEntry& entry, const Reader& content)>;

/// Limit of the bytes in one layer that excerpts may read. A file's size is only a number in a
/// header, and its holes cost nothing to write.
inline constexpr std::uint64_t most_read_in_layer{std::uint64_t{4} << 30U};

/// Who takes excerpts; see LayerTree's constructor.
struct ExcerptTakers {
  TakeExcerpt take{};
  TakeExcerpt besides{};
  std::uint64_t most_read{most_read_in_layer};
};

/// The merged view of an image's layers. It keeps only the paths that show which programs an image
/// has: executable files, symbolic links, and the marker files of pip and of virtual environments.
/// It reads only tar headers, except for the contents that `take` and `take_besides` read.
class LayerTree {
public:
  LayerTree() = default;

  /// Asks `take_besides` (may be empty) about what `take` wants nothing of. It bounds its own
  /// reading; `take` may read `most_read` bytes of each layer.
  explicit LayerTree(TakeExcerpt take,
                     TakeExcerpt take_besides = {},
                     std::uint64_t most_read = most_read_in_layer)
      : takers_{
            .take = std::move(take), .besides = std::move(take_besides), .most_read = most_read} {}

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

  /// Returns the excerpt of `path`, or of the target if it is a link; nothing if there is none.
  std::optional<std::string> excerpt(const std::string& path) const;

  /// True if anything remembered is below `directory`, after following its links.
  bool holds_below(const std::string& directory) const;

  /// Returns the sorted paths of all excerpts below `directory`, after following its links.
  std::vector<std::string> excerpts_below(const std::string& directory) const;

private:
  struct Node {
    std::optional<std::string> target{};  ///< of a symbolic link
    std::optional<std::string> excerpt{};
    bool is_directory{false};
  };

  /// By path without a leading slash.
  using Nodes = std::map<std::string, Node>;
  class Changes;

  static void erase_below(Nodes& nodes, const std::string& path);
  static void erase_above(Nodes& nodes, const std::string& path);
  std::string resolve(const std::string& path, bool last) const;

  ExcerptTakers takers_{};
  Nodes nodes_{};
};

/// Reads the layers of `source`, with the excerpts of LayerTree's constructor. Throws Error(remote)
/// if a layer does not match the configuration: an image on top of it could not run.
LayerTree read_layers(const Source& source, TakeExcerpt take = {}, TakeExcerpt take_besides = {});

}  // namespace autopack::image
