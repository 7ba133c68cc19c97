#include "source/remembering_tree.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::source {

namespace {

/// What a directory holds, in about a third of the memory that its entries need.
class PackedList {
public:
  explicit PackedList(const std::vector<Entry>& entries) {
    rows_.reserve(entries.size());
    for (const Entry& entry : entries) {
      const std::string_view path{entry.path};
      const std::string_view name = path.substr(path.rfind('/') + 1);
      rows_.push_back({.size = entry.size,
                       .inode = entry.inode,
                       .ctime_ns = entry.ctime_ns,
                       .mtime_ns = entry.mtime_ns,
                       .obstacle = entry.obstacle,
                       .name_end = append(name),
                       .link_end = append(entry.link_target),
                       .identity_end = append(entry.identity),
                       .type = entry.type,
                       .executable = entry.executable});
    }
    text_.shrink_to_fit();
  }

  /// The entries, in the order they came in. `directory` is what was listed.
  std::vector<Entry> entries(std::string_view directory) const {
    std::vector<Entry> entries;
    entries.reserve(rows_.size());
    std::string path{directory};
    if (!path.empty()) {
      path += '/';
    }
    const std::size_t prefix = path.size();
    std::uint32_t begin = 0;
    const auto up_to = [&](std::uint32_t end) {
      const std::uint32_t from = std::exchange(begin, end);
      return std::string_view{text_}.substr(from, end - from);
    };
    for (const Row& row : rows_) {
      path.resize(prefix);
      path += up_to(row.name_end);
      entries.push_back({.path = path,
                         .type = row.type,
                         .executable = row.executable,
                         .size = row.size,
                         .link_target = std::string{up_to(row.link_end)},
                         .inode = row.inode,
                         .ctime_ns = row.ctime_ns,
                         .mtime_ns = row.mtime_ns,
                         .obstacle = row.obstacle,
                         .identity = std::string{up_to(row.identity_end)}});
    }
    return entries;
  }

private:
  struct Row {
    std::uint64_t size{};
    std::uint64_t inode{};
    std::int64_t ctime_ns{};
    std::int64_t mtime_ns{};
    const Obstacle* obstacle{};
    std::uint32_t name_end{};  ///< in text_, as the following two
    std::uint32_t link_end{};
    std::uint32_t identity_end{};
    EntryType type{};
    bool executable{};
  };

  std::uint32_t append(std::string_view part) {
    text_ += part;
    return static_cast<std::uint32_t>(text_.size());
  }

  std::vector<Row> rows_{};
  std::string text_{};
};

class RememberingTree final : public Tree {
public:
  explicit RememberingTree(std::shared_ptr<const Tree> tree) : tree_{std::move(tree)} {}

  std::optional<Entry> find(std::string_view path) const override { return tree_->find(path); }

  std::vector<Entry> list(std::string_view path) const override {
    {
      const std::lock_guard lock{mutex_};
      if (const auto known = lists_.find(path); known != lists_.end()) {
        return known->second.entries(path);
      }
    }
    auto entries = tree_->list(path);
    PackedList packed{entries};
    const std::lock_guard lock{mutex_};
    lists_.emplace(std::string{path}, std::move(packed));
    return entries;
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
  mutable std::map<std::string, PackedList, std::less<>> lists_;
};

}  // namespace

std::shared_ptr<const Tree> remembering(std::shared_ptr<const Tree> tree) {
  return std::make_shared<RememberingTree>(std::move(tree));
}

}  // namespace autopack::source
