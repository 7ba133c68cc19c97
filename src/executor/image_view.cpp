#include "executor/image_view.hpp"

#include "base/background.hpp"
#include "base/text.hpp"
#include "executor/python_excerpts.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <utility>

namespace autopack::executor {

namespace {

using Found = std::map<std::string, std::optional<std::string>>;

class TreeView final : public ImageView {
public:
  explicit TreeView(const image::LayerTree& tree) : tree_{tree} {}

  void expect(const std::vector<std::string>& /*paths*/) override {}

  Found look(const std::vector<std::string>& paths) override {
    Found found = tree_.look(paths);
    for (const auto& path : paths) {
      // Not every layer lists the directories of its files.
      if (!found.contains(path) && tree_.holds_below(path)) {
        found[path] = std::nullopt;
      }
    }
    return found;
  }

  std::optional<std::string> excerpt(const std::string& path) override {
    return tree_.excerpt(path);
  }

  std::vector<std::string> excerpts_below(const std::string& directory) override {
    return tree_.excerpts_below(directory);
  }

private:
  const image::LayerTree& tree_;
};

/// Reads requested or announced files once, each into its own tree. An engine may take a tenth of a
/// second for each file, but it serves several at once.
class EngineView final : public ImageView {
public:
  explicit EngineView(engine::ImageFiles& files) : files_{files} {}

  void expect(const std::vector<std::string>& paths) override {
    for (const auto& path : paths) {
      const auto file = place_of(path);
      if (file && !trees_.contains(*file) && !coming_.contains(*file)) {
        coming_[*file] = in_background([this, file = *file] { return read(file); });
      }
    }
  }

  Found look(const std::vector<std::string>& paths) override {
    Found found;
    std::vector<std::string> unknown;
    for (const auto& path : paths) {
      if (const auto* tree = tree_above(path)) {
        found.merge(tree->look({path}));
      } else if (asked_.insert(path).second) {
        unknown.push_back(path);
      }
    }
    for (const auto& [path, target] : files_.probe(unknown)) {
      known_[path] = target ? std::optional{absolute(*target, path)} : std::nullopt;
    }
    for (const auto& path : paths) {
      if (const auto known = known_.find(path); known != known_.end()) {
        found.insert(*known);
      }
    }
    return found;
  }

  std::optional<std::string> excerpt(const std::string& path) override {
    if (const auto* tree = tree_above(path)) {
      return tree->excerpt(path);
    }
    const auto file = place_of(path);
    return file ? tree_of(*file).excerpt(*file) : std::nullopt;
  }

  std::vector<std::string> excerpts_below(const std::string& directory) override {
    const auto there = place_of(directory);
    return there ? tree_of(*there).excerpts_below(*there) : std::vector<std::string>{};
  }

private:
  /// Returns the target of a link at `path`: an engine may report it as stored in the link.
  static std::string absolute(const std::string& target, const std::string& path) {
    return target.starts_with('/')
               ? target
               : (std::filesystem::path{path}.parent_path() / target).lexically_normal().string();
  }

  /// Returns the final target of `path`; nothing if it does not exist.
  std::optional<std::string> place_of(const std::string& path) {
    const auto found = look({path});
    if (found.empty()) {
      return std::nullopt;
    }
    const auto& target = found.begin()->second;
    const bool is_there = !target || !look({*target}).empty();
    return is_there ? std::optional{target.value_or(path)} : std::nullopt;
  }

  image::LayerTree read(const std::string& file) {
    image::LayerTree tree{excerpt_for_python};
    tree.add_into(executor::parent(file), files_.archive(file),
                  fmt::format("`{}` of the image", printable(file)));
    return tree;
  }

  const image::LayerTree& tree_of(const std::string& file) {
    if (const auto coming = coming_.find(file); coming != coming_.end()) {
      auto reading = std::move(coming->second);
      coming_.erase(coming);
      trees_.emplace(file, reading.get());
    }
    const auto known = trees_.find(file);
    return known != trees_.end() ? known->second : trees_.emplace(file, read(file)).first->second;
  }

  /// Returns the tree of the nearest directory above `path` that is read with everything below;
  /// else null.
  const image::LayerTree* tree_above(const std::string& path) {
    for (auto slash = path.rfind('/'); slash != std::string::npos && slash > 0;
         slash = path.rfind('/', slash - 1)) {
      const auto directory = path.substr(0, slash);
      if (trees_.contains(directory) || coming_.contains(directory)) {
        return &tree_of(directory);
      }
    }
    return nullptr;
  }

  engine::ImageFiles& files_;
  std::set<std::string> asked_;
  Found known_;
  std::map<std::string, image::LayerTree> trees_;  ///< by path that was read
  std::map<std::string, Background<image::LayerTree>> coming_;
};

}  // namespace

std::string parent(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : std::string{path.substr(0, slash)};
}

std::unique_ptr<ImageView> view_of(const image::LayerTree& tree) {
  return std::make_unique<TreeView>(tree);
}

std::unique_ptr<ImageView> view_of(engine::ImageFiles& files) {
  return std::make_unique<EngineView>(files);
}

std::string without_links(ImageView& view, std::string path) {
  constexpr int most_links = 20;
  std::string given = path;
  for (int links = 0; links < most_links; ++links) {
    std::vector<std::string> directories;
    for (auto slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      directories.push_back(path.substr(0, slash));
    }
    directories.push_back(path);
    const auto found = view.look(directories);
    const Found::value_type* link = nullptr;
    for (const auto& entry : found) {  // the shortest comes first
      if (link == nullptr && entry.second) {
        link = &entry;
      }
    }
    if (link == nullptr) {
      return path;
    }
    path = *link->second + path.substr(link->first.size());
  }
  return given;
}

}  // namespace autopack::executor
