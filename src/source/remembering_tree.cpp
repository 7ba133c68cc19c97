#include "source/remembering_tree.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace autopack::source {

namespace {

class RememberingTree final : public Tree {
public:
  explicit RememberingTree(std::shared_ptr<const Tree> tree) : tree_{std::move(tree)} {}

  std::optional<Entry> find(std::string_view path) const override { return tree_->find(path); }

  std::vector<Entry> list(std::string_view path) const override {
    std::unique_lock lock{mutex_};
    auto known = lists_.find(path);
    if (known == lists_.end()) {
      lock.unlock();
      auto entries = tree_->list(path);
      entries.shrink_to_fit();
      lock.lock();
      known = lists_.emplace(std::string{path}, std::move(entries)).first;
    }
    return known->second;
  }

  std::string read(std::string_view path) const override { return tree_->read(path); }

  void stream(std::string_view path,
              const std::function<void(std::string_view bytes)>& take) const override {
    tree_->stream(path, take);
  }

  std::string describe() const override { return tree_->describe(); }

  bool lists_in_threads() const override { return tree_->lists_in_threads(); }

private:
  std::shared_ptr<const Tree> tree_;
  mutable std::mutex mutex_{};
  mutable std::map<std::string, std::vector<Entry>, std::less<>> lists_;
};

}  // namespace

std::shared_ptr<const Tree> remembering(std::shared_ptr<const Tree> tree) {
  return std::make_shared<RememberingTree>(std::move(tree));
}

}  // namespace autopack::source
