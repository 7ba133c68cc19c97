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

/// A wheel that comes into an image.
struct ChosenWheel {
  std::string name{};       ///< normalised
  Digest digest;            ///< of the file
  std::uint64_t size{0};    ///< of the file, in bytes
  std::string file_name{};  ///< as an index or the user calls it
  InstallOptions options{};
  std::function<std::filesystem::path()> file{};  ///< where it is; may fetch it first
};

/// What layers depend on besides their wheels.
struct Place {
  python::Interpreter interpreter{};
  /// Directories that the image has and that keep their modes, without a slash at their begin. A
  /// layer writes all others that its files are in.
  std::set<std::string> directories{};
  std::int64_t time{0};  ///< of every file; see image::file_time
};

/// The key of what group() says of `wheels`: known without their contents.
std::string grouping_key(const std::vector<ChosenWheel>& wheels,
                         const Place& place,
                         std::size_t most_layers);

/// The key of what brought_by() says of `wheel`: known without its contents.
std::string brought_key(const ChosenWheel& wheel, const Place& place);

/// What `wheel` says to group(); opens it. Throws Error(project) when it is not sound.
Brought brought_by(const ChosenWheel& wheel, const Place& place);

/// Opens all `wheels` and groups them.
Grouping group(const std::vector<ChosenWheel>& wheels, const Place& place, std::size_t most_layers);

/// The key of a layer, from which its bytes follow: known without the contents of its wheels.
std::string layer_key(const LayerGroup& layer,
                      const std::vector<ChosenWheel>& wheels,
                      const Place& place);

/// Writes a layer to `out`, gzip-compressed. Each byte of its wheels is checked against what they
/// tell of it, unless the facts of the layer are `known`: then deflate streams are copied unread.
/// Throws Error(project) naming a wheel that is not sound.
image::LayerFacts write_layer(const LayerGroup& layer,
                              const std::vector<ChosenWheel>& wheels,
                              const Place& place,
                              const std::function<void(std::string_view)>& out,
                              const std::optional<image::LayerFacts>& known = {});

/// Gives `take` each Python source that write_layer() writes where Python looks for modules, with
/// its path in the image, in their order there. Throws as write_layer().
void read_sources(const LayerGroup& layer,
                  const std::vector<ChosenWheel>& wheels,
                  const Place& place,
                  const std::function<void(const std::string& path, std::string text)>& take);

/// The key of a layer that removes `paths`.
std::string removal_key(const std::set<std::string>& paths, std::int64_t time);

/// Writes a layer that removes `paths`, files or directories, from those below it.
image::LayerFacts write_removal(const std::set<std::string>& paths,
                                std::int64_t time,
                                const std::function<void(std::string_view)>& out);

}  // namespace autopack::wheel
