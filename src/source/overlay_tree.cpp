#include "base/digest.hpp"
#include "base/tree_path.hpp"
#include "source/tree.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::source {

namespace {

class OverlayTree final : public Tree {
public:
  OverlayTree(std::shared_ptr<const Tree> tree, std::string path, std::string text)
      : tree_{std::move(tree)},
        entry_{.path = std::move(path), .size = text.size(), .identity = sha256(text).str()},
        text_{std::move(text)} {}

  std::optional<Entry> find(std::string_view path) const override {
    return path == entry_.path ? entry_ : tree_->find(path);
  }

  std::vector<Entry> list(std::string_view path) const override {
    auto entries = tree_->list(path);
    if (path == parent_path(entry_.path)) {
      const auto place = std::ranges::lower_bound(entries, entry_.path, {}, &Entry::path);
      entries.insert(place, entry_);
    }
    return entries;
  }

  std::string read(std::string_view path) const override {
    return path == entry_.path ? text_ : tree_->read(path);
  }

  void stream(std::string_view path,
              const std::function<void(std::string_view bytes)>& take) const override {
    if (path == entry_.path) {
      take(text_);
    } else {
      tree_->stream(path, take);
    }
  }

  std::string describe() const override { return tree_->describe(); }

  bool lists_in_threads() const override { return tree_->lists_in_threads(); }

private:
  std::shared_ptr<const Tree> tree_;
  Entry entry_;
  std::string text_;
};

}  // namespace

std::shared_ptr<const Tree> with_file(std::shared_ptr<const Tree> tree,
                                      std::string path,
                                      std::string text) {
  return std::make_shared<OverlayTree>(std::move(tree), std::move(path), std::move(text));
}

}  // namespace autopack::source
