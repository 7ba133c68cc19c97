#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace autopack {

/// Something that is made when it is first asked for, and once, whichever thread asks.
template <class T>
class Once {
public:
  using Make = std::function<std::shared_ptr<T>()>;

  explicit Once(Make make) : make_{std::move(make)} {}

  /// Throws what making it throws; the next call tries again.
  T& operator()() {
    std::call_once(flag_, [this] { made_ = make_(); });
    return *made_;
  }

  /// The same for those who must not know what it is made from. This must outlive it.
  std::function<T&()> function() {
    return [this]() -> T& { return (*this)(); };
  }

private:
  Make make_;
  std::once_flag flag_;
  std::shared_ptr<T> made_{};
};

}  // namespace autopack
