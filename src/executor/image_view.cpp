#include "executor/image_view.hpp"

#include "base/text.hpp"
#include "executor/python_notes.hpp"

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

  Found look(const std::vector<std::string>& paths) override {
    Found found = tree_.look(paths);
    for (const auto& path : paths) {
      // Not every layer names the directories that its files lie in.
      if (!found.contains(path) && tree_.holds_below(path)) {
        found[path] = std::nullopt;
      }
    }
    return found;
  }

  std::optional<std::string> note(const std::string& path) override { return tree_.note(path); }

  std::vector<std::string> noted_below(const std::string& directory) override {
    return tree_.noted_below(directory);
  }

private:
  const image::LayerTree& tree_;
};

/// Reads what is asked for, once, into a tree of its own.
class EngineView final : public ImageView {
public:
  explicit EngineView(engine::ImageFiles& files) : files_{files} {}

  Found look(const std::vector<std::string>& paths) override {
    std::vector<std::string> unknown;
    std::vector<std::string> read;
    for (const auto& path : paths) {
      if (is_read(path)) {
        read.push_back(path);
      } else if (asked_.insert(path).second) {
        unknown.push_back(path);
      }
    }
    for (const auto& [path, target] : files_.probe(unknown)) {
      known_[path] = target ? std::optional{absolute(*target, path)} : std::nullopt;
    }
    Found found = tree_.look(read);
    for (const auto& path : paths) {
      if (const auto known = known_.find(path); known != known_.end()) {
        found.insert(*known);
      }
    }
    return found;
  }

  std::optional<std::string> note(const std::string& path) override {
    if (is_read(path)) {
      return tree_.note(path);
    }
    const auto file = read(path);
    return file ? tree_.note(*file) : std::nullopt;
  }

  std::vector<std::string> noted_below(const std::string& directory) override {
    const auto there = read(directory);
    return there ? tree_.noted_below(*there) : std::vector<std::string>{};
  }

private:
  /// Where a link at `path` leads: an engine may tell it as the link has it.
  static std::string absolute(const std::string& target, const std::string& path) {
    return target.starts_with('/')
               ? target
               : (std::filesystem::path{path}.parent_path() / target).lexically_normal().string();
  }

  /// True for what lies in a directory that was read with all below it.
  bool is_read(const std::string& path) const {
    for (auto slash = path.rfind('/'); slash != std::string::npos && slash > 0;
         slash = path.rfind('/', slash - 1)) {
      if (read_.contains(path.substr(0, slash))) {
        return true;
      }
    }
    return false;
  }

  /// Puts what `path` leads to into the tree: its path there. None when there is nothing.
  std::optional<std::string> read(const std::string& path) {
    const auto found = look({path});
    if (found.empty()) {
      return std::nullopt;
    }
    const auto& target = found.begin()->second;
    const std::string file = target.value_or(path);
    if (target && look({file}).empty()) {
      return std::nullopt;
    }
    if (read_.insert(file).second) {
      tree_.add_into(file.substr(0, file.rfind('/')), files_.archive(file),
                     fmt::format("`{}` of the image", printable(file)));
    }
    return file;
  }

  engine::ImageFiles& files_;
  image::LayerTree tree_{note_for_python};
  std::set<std::string> asked_;
  std::set<std::string> read_;
  Found known_;
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
