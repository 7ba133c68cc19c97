#pragma once

#include "base/digest.hpp"
#include "image/layer.hpp"
#include "python/interpreter.hpp"
#include "wheel/grouping.hpp"
#include "wheel/installation.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::wheel {

/// A wheel that goes into an image.
struct ChosenWheel {
  std::string name{};       ///< normalised
  Digest digest;            ///< of the file
  std::uint64_t size{0};    ///< of the file, in bytes
  std::string file_name{};  ///< as in an index, or as the user named it
  InstallOptions options{};
  std::function<std::filesystem::path()> file{};  ///< returns its path; may download it first
};

/// The input of layers besides their wheels.
struct Place {
  python::Interpreter interpreter{};
  /// Directories that exist in the image and keep their modes, without a leading slash. A layer
  /// writes all other parent directories of its files.
  std::set<std::string> directories{};
  std::int64_t time{0};  ///< of every file; see image::file_time
};

/// Returns the key of group()'s result for `wheels`, without reading them.
std::string grouping_key(const std::vector<ChosenWheel>& wheels,
                         const Place& place,
                         std::size_t most_layers);

/// Returns the key of files that read_wheel() returns for `wheel`, without reading it.
std::string wheel_files_key(const ChosenWheel& wheel, const Place& place);

/// The facts of a wheel that its installation needs.
struct WheelContents {
  WheelFiles files;                         ///< its input for group()
  std::vector<std::string> requirements{};  ///< its `Requires-Dist` lines
};

/// Opens `wheel` and returns its contents. Throws Error(project) if the wheel is invalid.
WheelContents read_wheel(const ChosenWheel& wheel, const Place& place);

/// Opens all `wheels` and groups them.
Grouping group(const std::vector<ChosenWheel>& wheels, const Place& place, std::size_t most_layers);

/// Returns the key of a layer, which determines its bytes, without reading its wheels.
std::string layer_key(const LayerGroup& layer,
                      const std::vector<ChosenWheel>& wheels,
                      const Place& place);

/// Sees the files of wheels while they are written to layers.
struct Watch {
  using Take = std::function<void(std::string_view bytes)>;

  /// Returns what takes the bytes of the file `path`, as named in the wheel at `wheel`; nothing to
  /// skip the file.
  std::function<Take(std::size_t wheel, const std::string& path, std::uint64_t size)> begin{};
  /// Called with a file whose bytes were all taken.
  std::function<void(std::size_t wheel, const std::string& path, std::uint64_t size)> end{};
  /// Called for each wheel of a layer that was written, with the number of its files there, and of
  /// all files that its installation writes.
  std::function<void(std::size_t wheel, std::size_t files, std::size_t of)> wrote{};
};

/// Writes a layer to `out`, gzip-compressed. Verifies each byte of its wheels, unless the facts
/// about the layer are `known`: then it copies deflate streams unread, and `watch` sees nothing.
/// Throws Error(project) naming an invalid wheel.
image::LayerFacts write_layer(const LayerGroup& layer,
                              const std::vector<ChosenWheel>& wheels,
                              const Place& place,
                              const std::function<void(std::string_view)>& out,
                              const std::optional<image::LayerFacts>& known = {},
                              const Watch* watch = nullptr);

/// Passes to `take` each file that write_layer() writes and whose path `wants` accepts, in the same
/// order; omits files above 16 MiB. Throws like write_layer().
void read_files(const LayerGroup& layer,
                const std::vector<ChosenWheel>& wheels,
                const Place& place,
                const std::function<bool(const std::string& path)>& wants,
                const std::function<void(const std::string& path, std::string text)>& take);

/// Passes to `take` each Python source that write_layer() writes into a directory of modules, with
/// its path in the image, in the same order. Throws like write_layer().
void read_sources(const LayerGroup& layer,
                  const std::vector<ChosenWheel>& wheels,
                  const Place& place,
                  const std::function<void(const std::string& path, std::string text)>& take);

/// Returns the key of a layer that removes `paths`.
std::string removal_key(const std::set<std::string>& paths, std::int64_t time);

/// Writes a layer that removes `paths`, files or directories, of the layers below it.
image::LayerFacts write_removal(const std::set<std::string>& paths,
                                std::int64_t time,
                                const std::function<void(std::string_view)>& out);

}  // namespace autopack::wheel
