#pragma once

#include "image/layer.hpp"
#include "image/tar.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace autopack::image {

/// Increase this if FileLayer writes different bytes for the same files.
inline constexpr int file_layer_format{1};

/// Writes a layer from files, many of which are already compressed. Gathers and compresses small
/// files, and copies the deflate streams of large ones. The same calls give the same bytes
/// everywhere.
class FileLayer {
public:
  /// The parameters are those of LayerWriter and TarWriter.
  explicit FileLayer(LayerWriter::Take out,
                     std::int64_t time = default_file_time,
                     std::optional<LayerFacts> known = {});

  void add_directory(std::string_view path);
  void add_file(std::string_view path, unsigned mode, std::string_view text);
  /// Throws Error(project) if `contents` gives more or fewer bytes than `size`.
  void add_file(std::string_view path,
                unsigned mode,
                std::uint64_t size,
                const TarWriter::Contents& contents);
  void add_deflated(std::string_view path, unsigned mode, const Deflated& file);
  /// Hides `path` of lower layers: a file, or a directory with all its contents.
  void remove(std::string_view path);
  /// Finishes the layer; no calls are allowed after it.
  LayerFacts finish();

private:
  LayerWriter layer_;
  TarWriter tar_;
};

}  // namespace autopack::image
