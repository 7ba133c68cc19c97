#pragma once

#include "engine/docker.hpp"
#include "image/layer_tree.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::executor {

/// The files of an image, wherever it stands, as far as note_for_python notes them. Paths are
/// absolute.
class ImageView {
public:
  virtual ~ImageView() = default;
  /// Tells which paths will most likely be read, by note() or noted_below(): where that takes time,
  /// it begins. Those that do not exist are passed over.
  virtual void expect(const std::vector<std::string>& paths) = 0;
  /// Those of `paths` that exist, each with the path behind its links when it is a symbolic link.
  virtual std::map<std::string, std::optional<std::string>> look(
      const std::vector<std::string>& paths) = 0;
  /// What was noted of the file `path` or of the one that it links to; none when there is none.
  virtual std::optional<std::string> note(const std::string& path) = 0;
  /// Paths of all that was noted below `directory`, which must be no link; empty when it is not
  /// there.
  virtual std::vector<std::string> noted_below(const std::string& directory) = 0;
};

/// The directory of `path`; empty for one in the root.
std::string parent(std::string_view path);

/// Of layers that were read with note_for_python; `tree` must outlive it.
std::unique_ptr<ImageView> view_of(const image::LayerTree& tree);

/// Of an image in an engine: only what is asked for or expected is read; `files` must outlive it.
std::unique_ptr<ImageView> view_of(engine::ImageFiles& files);

/// `path` without links among its directories; as it is when they lead in circles.
std::string without_links(ImageView& view, std::string path);

}  // namespace autopack::executor
