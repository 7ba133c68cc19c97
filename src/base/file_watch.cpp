#include "base/file_watch.hpp"

#include "base/error.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace autopack {

namespace {

/// A written file counts when its writer closes it: one that is written for hours would never
/// settle.
constexpr std::uint32_t events_of_interest{IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM |
                                           IN_CREATE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF |
                                           IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK};
constexpr int rest_milliseconds{80};
constexpr int most_rests{25};

bool is_readable(int descriptor, int milliseconds) {
  pollfd entry{descriptor, POLLIN, 0};
  return ::poll(&entry, 1, milliseconds) > 0;
}

}  // namespace

FileWatch::FileWatch(std::size_t most, std::chrono::milliseconds period)
    : most_{most}, period_{period}, events_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)} {
  if (!events_) {
    look_by_clock();
  }
}

bool FileWatch::follow(const std::set<std::filesystem::path>& directories) {
  if (!looks_by_clock() && directories.size() > most_) {
    look_by_clock();
  }
  if (looks_by_clock()) {
    return false;
  }
  std::erase_if(watches_, [&](const auto& watch) {
    if (directories.contains(watch.first)) {
      return false;
    }
    ::inotify_rm_watch(events_.get(), watch.second);
    return true;
  });
  bool has_new = false;
  for (const auto& directory : directories) {
    // Adds all watches again, because a name may now belong to another directory; otherwise this
    // changes nothing.
    const int watch = ::inotify_add_watch(events_.get(), directory.c_str(), events_of_interest);
    if (watch < 0 && (errno == ENOSPC || errno == ENOMEM)) {
      look_by_clock();
      return false;
    }
    if (watch < 0) {
      watches_.erase(directory);  // it was removed, which the watch of its parent reports
      continue;
    }
    const auto [found, is_new] = watches_.insert_or_assign(directory, watch);
    has_new = has_new || is_new;
  }
  return has_new;
}

int FileWatch::descriptor() const {
  return looks_by_clock() ? clock_.get() : events_.get();
}

void FileWatch::settle() const {
  std::array<char, 16384> buffer{};
  for (int i = 0; i < most_rests; ++i) {
    while (::read(descriptor(), buffer.data(), buffer.size()) > 0) {
    }
    if (looks_by_clock() || !is_readable(descriptor(), rest_milliseconds)) {
      return;
    }
  }
}

void FileWatch::look_by_clock() {
  clock_ = FileDescriptor{::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(period_);
  const auto rest = std::chrono::nanoseconds{period_ - seconds};
  const timespec period{.tv_sec = static_cast<time_t>(seconds.count()),
                        .tv_nsec = static_cast<long>(rest.count())};
  const itimerspec times{.it_interval = period, .it_value = period};
  if (!clock_ || ::timerfd_settime(clock_.get(), 0, &times, nullptr) != 0) {
    throw Error(ErrorKind::environment, "cannot watch files for changes")
        .cause(std::strerror(errno));
  }
  watches_.clear();
  events_ = FileDescriptor{-1};
}

}  // namespace autopack
