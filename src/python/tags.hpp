#pragma once

#include "python/interpreter.hpp"
#include "python/wheel_name.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::python {

/// The wheel tags that an interpreter accepts, best first, in the order of pypa's packaging before
/// 26.3 (which moved `linux_ARCH` to the front). The ABIs of implementations other than CPython are
/// unknown here, so they accept only pure-Python wheels.
class AcceptedTags {
public:
  explicit AcceptedTags(const Interpreter& interpreter);

  /// Returns the rank of the best tag of `wheel`, where 0 is the best; nothing if it does not fit.
  std::optional<std::size_t> rank(const WheelName& wheel) const;

  /// Returns all tags in order: `cp311-cp311-manylinux_2_36_x86_64`.
  std::vector<std::string> all() const;

  /// Returns the best platform: `manylinux_2_36_x86_64`.
  const std::string& platform() const { return platforms_.front(); }

private:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  Pairs binary_{};  ///< interpreter and ABI, each combined with every platform
  Pairs pure_{};    ///< interpreter and ABI, combined only with `any`
  std::vector<std::string> platforms_{};
};

}  // namespace autopack::python
