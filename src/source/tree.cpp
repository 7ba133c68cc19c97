#include "source/tree.hpp"

#include "base/background.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "source/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace autopack::source {

namespace {

/// Lists the directories of a walk slightly ahead of it, with a helper thread if there are many.
class ListingAhead {
public:
  /// `tree` must allow Tree::lists_in_threads, and outlive this object.
  explicit ListingAhead(const Tree& tree) : tree_{tree} {}

  ~ListingAhead();

  ListingAhead(const ListingAhead&) = delete;
  ListingAhead& operator=(const ListingAhead&) = delete;

  /// Announces that `directories` will probably be listed, in this order, and before all that were
  /// announced earlier.
  void announce(const std::vector<std::string>& directories);

  /// Returns Tree::list, with its errors. Call it in the order of the announcements.
  std::vector<Entry> list(std::string_view directory);

private:
  struct Listed {
    std::vector<Entry> entries{};
    std::exception_ptr error{};
  };

  void work();
  void list_next(std::unique_lock<std::mutex>& lock);
  bool may_list_more() const;

  const Tree& tree_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::vector<std::string> announced_{};  ///< the next one last
  std::set<std::string, std::less<>> in_work_{};
  std::map<std::string, Listed, std::less<>> listed_{};
  std::size_t held_{0};  ///< entries in listed_
  bool stop_{false};
  Background<void> helper_{};  // last: it uses all the others
};

constexpr std::size_t worth_a_helper{16};  // directories

/// Limits the memory for listings that were not used yet.
constexpr std::size_t most_entries_held{4096};

ListingAhead::~ListingAhead() {
  {
    const std::lock_guard lock{mutex_};
    stop_ = true;
  }
  changed_.notify_all();
}

void ListingAhead::announce(const std::vector<std::string>& directories) {
  bool is_worth_it = false;
  {
    const std::lock_guard lock{mutex_};
    announced_.insert(announced_.end(), directories.rbegin(), directories.rend());
    is_worth_it = announced_.size() >= worth_a_helper;
  }
  if (helper_.valid()) {
    changed_.notify_all();
  } else if (is_worth_it && std::thread::hardware_concurrency() > 1) {
    helper_ = in_background([this] { work(); });
  }
}

std::vector<Entry> ListingAhead::list(std::string_view directory) {
  std::unique_lock lock{mutex_};
  while (in_work_.contains(directory)) {
    if (may_list_more()) {
      list_next(lock);
    } else {
      changed_.wait(lock);
    }
  }
  if (const auto found = listed_.find(directory); found != listed_.end()) {
    Listed listed = std::move(found->second);
    listed_.erase(found);
    held_ -= listed.entries.size();
    changed_.notify_all();
    if (listed.error) {
      std::rethrow_exception(listed.error);
    }
    return std::move(listed.entries);
  }
  // Directories announced before it were skipped.
  const auto own = std::find(announced_.rbegin(), announced_.rend(), directory);
  if (own != announced_.rend()) {
    announced_.erase(std::next(own).base(), announced_.end());
  }
  lock.unlock();
  return tree_.list(directory);
}

bool ListingAhead::may_list_more() const {
  return !announced_.empty() && held_ < most_entries_held;
}

void ListingAhead::work() {
  std::unique_lock lock{mutex_};
  while (!stop_) {
    if (may_list_more()) {
      list_next(lock);
    } else {
      changed_.wait(lock);
    }
  }
}

void ListingAhead::list_next(std::unique_lock<std::mutex>& lock) {
  const std::string directory = std::move(announced_.back());
  announced_.pop_back();
  in_work_.insert(directory);
  lock.unlock();
  Listed listed;
  try {
    listed.entries = tree_.list(directory);
  } catch (...) {
    listed.error = std::current_exception();
  }
  lock.lock();
  in_work_.erase(directory);
  held_ += listed.entries.size();
  listed_.insert_or_assign(directory, std::move(listed));
  changed_.notify_all();
}

struct Listing {
  std::vector<Entry> entries{};
  std::size_t next{0};
};

std::vector<std::string> directories_of(const std::vector<Entry>& entries,
                                        const std::function<bool(const Entry&)>& enter) {
  std::vector<std::string> directories;
  for (const Entry& entry : entries) {
    if (entry.type == EntryType::directory && enter(entry)) {
      directories.push_back(entry.path);
    }
  }
  return directories;
}

/// Checks a known directory that lists as empty: it may be gone.
void check_still_there(const Tree& tree, std::string_view directory) {
  const auto entry = tree.find(directory);
  if (!entry || entry->type != EntryType::directory) {
    throw Error(ErrorKind::project, fmt::format("the directory `{}` went away while it was read",
                                                printable(directory)));
  }
}

}  // namespace

void walk(const Tree& tree,
          std::string_view path,
          const std::function<bool(const Entry& directory)>& enter,
          const std::function<void(Entry&& entry)>& visit) {
  const auto take_all = [](std::string_view, const std::vector<Entry>&) { return true; };
  walk(tree, path, enter, take_all, visit);
}

void walk(const Tree& tree,
          std::string_view path,
          const std::function<bool(const Entry& directory)>& enter,
          const std::function<bool(std::string_view directory, const std::vector<Entry>& entries)>&
              listed,
          const std::function<void(Entry&& entry)>& visit) {
  // An explicit stack, because a tree may be arbitrarily deep.
  std::vector<Listing> open;
  std::optional<ListingAhead> ahead;
  if (tree.lists_in_threads()) {
    ahead.emplace(tree);
  }
  const auto add = [&](std::string_view directory) {
    auto entries = ahead ? ahead->list(directory) : tree.list(directory);
    if (entries.empty() && !open.empty()) {
      check_still_there(tree, directory);
    }
    if (!listed(directory, entries)) {
      return;
    }
    if (ahead) {
      ahead->announce(directories_of(entries, enter));
    }
    open.push_back({.entries = std::move(entries)});
  };
  add(path);
  while (!open.empty()) {
    Listing& listing = open.back();
    if (listing.next == listing.entries.size()) {
      open.pop_back();
      continue;
    }
    Entry& entry = listing.entries[listing.next++];
    if (entry.type != EntryType::directory) {
      visit(std::move(entry));
      continue;
    }
    const bool is_entered = enter(entry);
    const std::string directory = entry.path;
    visit(std::move(entry));
    if (is_entered) {
      add(directory);
    }
  }
}

std::optional<std::string> normalise(std::string_view path) {
  if (path.starts_with('/')) {
    return std::nullopt;
  }
  std::string result;
  while (!path.empty()) {
    const auto end = path.find('/');
    const auto name = path.substr(0, end);
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
    if (name == "..") {
      if (result.empty()) {
        return std::nullopt;
      }
      const auto parent = result.rfind('/');
      result.resize(parent == std::string::npos ? 0 : parent);
    } else if (!name.empty() && name != ".") {
      result += (result.empty() ? "" : "/");
      result += name;
    }
  }
  return result;
}

}  // namespace autopack::source
