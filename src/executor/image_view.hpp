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

/// The files of an image in any place, as far as excerpt_for_python keeps them. Paths are absolute.
class ImageView {
public:
  virtual ~ImageView() = default;
  /// Announces paths that will probably be read by excerpt() or excerpts_below(), to start slow
  /// reads early. Ignores missing ones.
  virtual void expect(const std::vector<std::string>& paths) = 0;
  /// Returns those of `paths` that exist, with the final target if the path is a symbolic link.
  virtual std::map<std::string, std::optional<std::string>> look(
      const std::vector<std::string>& paths) = 0;
  /// Returns the excerpt of the file `path` or its link target; nothing if there is none.
  virtual std::optional<std::string> excerpt(const std::string& path) = 0;
  /// Returns the paths of all excerpts below `directory`, which must not be a link; empty if it
  /// does not exist.
  virtual std::vector<std::string> excerpts_below(const std::string& directory) = 0;
};

/// Returns the directory of `path`; empty for one in the root.
std::string parent(std::string_view path);

/// For layers that were read with excerpt_for_python; `tree` must outlive it.
std::unique_ptr<ImageView> view_of(const image::LayerTree& tree);

/// For an image in an engine; reads only requested or announced files. `files` must outlive it.
std::unique_ptr<ImageView> view_of(engine::ImageFiles& files);

/// Returns `path` without links among its directories; unchanged if they form a cycle.
std::string without_links(ImageView& view, std::string path);

}  // namespace autopack::executor
