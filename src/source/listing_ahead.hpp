#pragma once

#include "base/background.hpp"
#include "source/tree.hpp"

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

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

}  // namespace autopack::source
