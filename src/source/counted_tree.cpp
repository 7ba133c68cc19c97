#include "source/counted_tree.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::source {

namespace {

constexpr std::uint64_t files_per_report{500};
/// Reading as many bytes takes about as long as listing a file.
constexpr std::uint64_t bytes_per_file{32U << 10U};

class CountedTree final : public Tree {
public:
  CountedTree(std::shared_ptr<const Tree> tree, std::shared_ptr<ReadCount> count)
      : tree_{std::move(tree)}, count_{std::move(count)} {}

  std::optional<Entry> find(std::string_view path) const override { return tree_->find(path); }

  std::vector<Entry> list(std::string_view path) const override {
    auto entries = tree_->list(path);
    const auto files = std::ranges::count(entries, EntryType::file, &Entry::type);
    count_->add(static_cast<std::uint64_t>(files), 0);
    return entries;
  }

  std::string read(std::string_view path) const override {
    auto contents = tree_->read(path);
    count_->add(0, contents.size());
    return contents;
  }

  void stream(std::string_view path,
              const std::function<void(std::string_view bytes)>& take) const override {
    tree_->stream(path, [&](std::string_view bytes) {
      count_->add(0, bytes.size());
      take(bytes);
    });
  }

  std::string describe() const override { return tree_->describe(); }

  bool lists_in_threads() const override { return tree_->lists_in_threads(); }

private:
  std::shared_ptr<const Tree> tree_;
  std::shared_ptr<ReadCount> count_;
};

}  // namespace

void ReadCount::set_report(Report report) {
  const std::lock_guard lock{mutex_};
  report_ = std::move(report);
}

void ReadCount::add(std::uint64_t files, std::uint64_t bytes) {
  const std::lock_guard lock{mutex_};
  files_ += files;
  unreported_ += files + (bytes_ + bytes) / bytes_per_file - bytes_ / bytes_per_file;
  bytes_ += bytes;
  if (unreported_ >= files_per_report && report_) {
    unreported_ = 0;
    report_(files_, bytes_);
  }
}

std::shared_ptr<const Tree> counted(std::shared_ptr<const Tree> tree,
                                    std::shared_ptr<ReadCount> count) {
  return std::make_shared<CountedTree>(std::move(tree), std::move(count));
}

}  // namespace autopack::source
