#pragma once

#include "image/layer.hpp"
#include "image/tar.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace autopack::image {

/// Raise it when FileLayer makes other bytes of the same files.
inline constexpr int file_layer_format{1};

/// Writes a layer from files of which many are compressed already. Small ones are gathered and
/// compressed, the deflate streams of large ones are taken over. The same calls give the same
/// bytes everywhere.
class FileLayer {
public:
  /// As LayerWriter and TarWriter have them.
  explicit FileLayer(LayerWriter::Take out,
                     std::int64_t time = default_file_time,
                     std::optional<LayerFacts> known = {});

  void add_directory(std::string_view path);
  void add_file(std::string_view path, unsigned mode, std::string_view text);
  /// Throws Error(project) when `contents` gives more or fewer bytes than `size`.
  void add_file(std::string_view path,
                unsigned mode,
                std::uint64_t size,
                const TarWriter::Contents& contents);
  void add_deflated(std::string_view path, unsigned mode, const Deflated& file);
  /// What layers below have at `path` is gone: a file, or a directory with all that is in it.
  void remove(std::string_view path);
  /// Ends the layer; nothing can be added after it.
  LayerFacts finish();

private:
  LayerWriter layer_;
  TarWriter tar_;
};

}  // namespace autopack::image
