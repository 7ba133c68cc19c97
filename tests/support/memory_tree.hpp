#pragma once

#include "base/error.hpp"
#include "source/tree.hpp"

#include <deque>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace autopack::source {

/// A tree in memory: `MemoryTree{{"a/b.py", "text"}}`. Parent directories are implied.
class MemoryTree final : public Tree {
public:
  MemoryTree() = default;

  MemoryTree(std::initializer_list<std::pair<const std::string, std::string>> files) {
    for (const auto& [path, text] : files) {
      file(path, text);
    }
  }

  explicit MemoryTree(const std::map<std::string, std::string>& files) {
    for (const auto& [path, text] : files) {
      file(path, text);
    }
  }

  MemoryTree& file(const std::string& path, std::string text, bool executable = false) {
    add({.path = path, .executable = executable, .size = text.size()});
    texts_[path] = std::move(text);
    return *this;
  }

  MemoryTree& directory(const std::string& path) {
    return add({.path = path, .type = EntryType::directory});
  }

  MemoryTree& symlink(const std::string& path, std::string target) {
    return add({.path = path, .type = EntryType::symlink, .link_target = std::move(target)});
  }

  /// `kind` is "fifo", "socket" or "device".
  MemoryTree& other(const std::string& path, std::string_view kind) {
    return add({.path = path,
                .type = EntryType::other,
                .obstacle = &obstacles_.emplace_back(Obstacle{.what = kind})});
  }

  /// Returns the paths whose contents were read, without duplicates.
  const std::set<std::string, std::less<>>& reads() const { return reads_; }

  /// Returns the directories that were listed, without duplicates.
  const std::set<std::string, std::less<>>& lists() const { return lists_; }

  std::optional<Entry> find(std::string_view path) const override {
    const auto found = entries_.find(path);
    return found == entries_.end() ? std::nullopt : std::optional{found->second};
  }

  std::vector<Entry> list(std::string_view path) const override {
    lists_.emplace(path);
    const std::string prefix = path.empty() ? std::string{} : std::string{path} + "/";
    std::vector<Entry> children;
    for (auto at = entries_.upper_bound(prefix);
         at != entries_.end() && at->first.starts_with(prefix); ++at) {
      if (at->first.find('/', prefix.size()) == std::string::npos) {
        children.push_back(at->second);
      }
    }
    return children;
  }

  std::string read(std::string_view path) const override {
    reads_.emplace(path);
    const auto found = texts_.find(path);
    if (found == texts_.end()) {
      throw Error(ErrorKind::project, "could not read `" + std::string{path} + "`");
    }
    return found->second;
  }

  void stream(std::string_view path,
              const std::function<void(std::string_view bytes)>& take) const override {
    const std::string text = read(path);
    if (!text.empty()) {
      take(text);
    }
  }

  std::string describe() const override { return "a tree in memory"; }

private:
  MemoryTree& add(const Entry& entry) {
    for (auto end = entry.path.find('/'); end != std::string::npos;
         end = entry.path.find('/', end + 1)) {
      const std::string parent = entry.path.substr(0, end);
      entries_.try_emplace(parent, Entry{.path = parent, .type = EntryType::directory});
    }
    entries_.insert_or_assign(entry.path, entry);
    return *this;
  }

  std::map<std::string, Entry, std::less<>> entries_{
      {"", Entry{.path = "", .type = EntryType::directory}}};
  std::map<std::string, std::string, std::less<>> texts_;
  std::deque<Obstacle> obstacles_;
  mutable std::set<std::string, std::less<>> reads_;
  mutable std::set<std::string, std::less<>> lists_;
};

}  // namespace autopack::source
