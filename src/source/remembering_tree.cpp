#include "source/remembering_tree.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::source {

namespace {

/// The contents of a directory, in about a third of the memory of its entries.
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
                       .identity_end = append(entry.identity.value_or("")),
                       .type = entry.type,
                       .executable = entry.executable});
    }
    text_.shrink_to_fit();
  }

  /// Returns the entries in their original order. `directory` is the listed one.
  std::vector<Entry> entries(std::string_view directory) const {
    std::vector<Entry> entries;
    entries.reserve(rows_.size());
    std::string path{directory};
    if (!path.empty()) {
      path += '/';
    }
    const std::size_t prefix = path.size();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      path.resize(prefix);
      path += name(i);
      entries.push_back(entry(i, path));
    }
    return entries;
  }

  /// Returns the entry `path`, whose last component is `last`; nothing if there is none.
  std::optional<Entry> find(std::string_view last, std::string_view path) const {
    const auto place_of = [this](const Row& row) {
      return static_cast<std::size_t>(&row - rows_.data());
    };
    const auto row = std::partition_point(
        rows_.begin(), rows_.end(), [&](const Row& one) { return name(place_of(one)) < last; });
    return row == rows_.end() || name(place_of(*row)) != last
               ? std::nullopt
               : std::optional{entry(place_of(*row), std::string{path})};
  }

private:
  struct Row {
    std::uint64_t size{};
    std::uint64_t inode{};
    std::int64_t ctime_ns{};
    std::int64_t mtime_ns{};
    const Obstacle* obstacle{};
    std::uint32_t name_end{};  ///< in text_, like the following two
    std::uint32_t link_end{};
    std::uint32_t identity_end{};
    EntryType type{};
    bool executable{};
  };

  std::string_view text(std::uint32_t begin, std::uint32_t end) const {
    return std::string_view{text_}.substr(begin, end - begin);
  }

  std::string_view name(std::size_t place) const {
    return text(place == 0 ? 0 : rows_[place - 1].identity_end, rows_[place].name_end);
  }

  Entry entry(std::size_t place, std::string path) const {
    const Row& row = rows_[place];
    return {.path = std::move(path),
            .type = row.type,
            .executable = row.executable,
            .size = row.size,
            .link_target = std::string{text(row.name_end, row.link_end)},
            .inode = row.inode,
            .ctime_ns = row.ctime_ns,
            .mtime_ns = row.mtime_ns,
            .obstacle = row.obstacle,
            .identity = non_empty(std::string{text(row.link_end, row.identity_end)})};
  }

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

  std::optional<Entry> find(std::string_view path) const override {
    {
      const std::lock_guard lock{mutex_};
      for (auto below = path; !below.empty();) {
        const auto slash = below.rfind('/');
        const bool is_at_root = slash == std::string_view::npos;
        const auto parent = below.substr(0, is_at_root ? 0 : slash);
        if (const auto known = lists_.find(parent); known != lists_.end()) {
          auto entry = known->second.find(below.substr(is_at_root ? 0 : slash + 1), below);
          if (below.size() == path.size()) {
            return entry;
          }
          if (!entry || entry->type != EntryType::directory) {
            return std::nullopt;
          }
          break;
        }
        below = parent;
      }
    }
    return tree_->find(path);
  }

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
  const bool remembers = dynamic_cast<const RememberingTree*>(tree.get()) != nullptr;
  return remembers ? std::move(tree) : std::make_shared<RememberingTree>(std::move(tree));
}

}  // namespace autopack::source
