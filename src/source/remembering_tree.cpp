#include "source/remembering_tree.hpp"

#include <map>

namespace autopack::source {

namespace {

class RememberingTree final : public Tree {
public:
  explicit RememberingTree(std::shared_ptr<const Tree> tree) : tree_{std::move(tree)} {}

  std::optional<Entry> find(std::string_view path) const override { return tree_->find(path); }

  std::vector<Entry> list(std::string_view path) const override {
    auto known = lists_.find(path);
    if (known == lists_.end()) {
      known = lists_.emplace(std::string{path}, tree_->list(path)).first;
      known->second.shrink_to_fit();
    }
    return known->second;
  }

  std::string read(std::string_view path) const override { return tree_->read(path); }

  void stream(std::string_view path,
              const std::function<void(std::string_view bytes)>& take) const override {
    tree_->stream(path, take);
  }

  std::string describe() const override { return tree_->describe(); }

private:
  std::shared_ptr<const Tree> tree_;
  mutable std::map<std::string, std::vector<Entry>, std::less<>> lists_;
};

}  // namespace

std::shared_ptr<const Tree> remembering(std::shared_ptr<const Tree> tree) {
  return std::make_shared<RememberingTree>(std::move(tree));
}

}  // namespace autopack::source
