#include "image/file_layer.hpp"

#include <string>
#include <utility>

// Compressing a layer takes longer than anything else in a push. A wheel's members are compressed
// already, with the same algorithm: large ones are copied into the layer as they are, each in a
// gzip member of its own between the tar headers. Only small files are compressed again, together.

namespace autopack::image {

namespace {

/// For smaller files, a gzip member of their own costs more than compressing them again with their
/// neighbours: a wheel of small sources would grow by a tenth.
constexpr std::uint64_t smallest_taken_over{std::uint64_t{16} << 10U};

}  // namespace

FileLayer::FileLayer(LayerWriter::Take out, std::int64_t time, std::optional<LayerFacts> known)
    : layer_{std::move(out), std::move(known)},
      tar_{[this](std::string_view bytes) { layer_.write(bytes); }, time} {}

void FileLayer::add_directory(std::string_view path) {
  tar_.add_directory(path);
}

void FileLayer::add_file(std::string_view path, unsigned mode, std::string_view text) {
  tar_.add_file(path, mode, text);
}

void FileLayer::add_file(std::string_view path,
                         unsigned mode,
                         std::uint64_t size,
                         const TarWriter::Contents& contents) {
  tar_.add_file(path, mode, size, contents);
}

void FileLayer::add_deflated(std::string_view path, unsigned mode, const Deflated& file) {
  if (file.size < smallest_taken_over) {
    tar_.add_file(path, mode, file.size,
                  [&](const Deflated::Take& take) { file.read([](auto) {}, take); });
  } else {
    tar_.add_file_around(path, mode, file.size, [&] { layer_.write_deflated(file); });
  }
}

void FileLayer::remove(std::string_view path) {
  const auto slash = path.rfind('/');
  const auto begin = slash == std::string_view::npos ? 0 : slash + 1;
  tar_.add_file(std::string{path.substr(0, begin)} + ".wh." + std::string{path.substr(begin)}, 0644,
                "");
}

LayerFacts FileLayer::finish() {
  tar_.finish();
  return layer_.finish();
}

}  // namespace autopack::image
