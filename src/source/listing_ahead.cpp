#include "source/listing_ahead.hpp"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

namespace autopack::source {

namespace {

constexpr std::size_t worth_a_helper{16};  // directories

/// Limits the memory for listings that were not used yet.
constexpr std::size_t most_entries_held{4096};

}  // namespace

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

}  // namespace autopack::source
