#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace autopack {

/// A value that is made on first use, and only once, whichever thread asks.
template <class T>
class Once {
public:
  using Make = std::function<std::shared_ptr<T>()>;

  explicit Once(Make make) : make_{std::move(make)} {}

  /// Throws the maker's exception; the next call tries again.
  T& operator()() {
    std::call_once(flag_, [this] { made_ = make_(); });
    return *made_;
  }

  /// The same as a function, for code that does not know the maker. This must outlive it.
  std::function<T&()> function() {
    return [this]() -> T& { return (*this)(); };
  }

private:
  Make make_;
  std::once_flag flag_;
  std::shared_ptr<T> made_{};
};

}  // namespace autopack
