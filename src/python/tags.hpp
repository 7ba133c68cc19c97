#pragma once

#include "python/interpreter.hpp"
#include "python/wheel_name.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace autopack::python {

/// The tags of wheels that an interpreter accepts, the best first, in the order of pypa's packaging
/// before 26.3 (which moved `linux_ARCH` to the front). Of other implementations than CPython,
/// whose binary interfaces are not known here, only wheels of pure Python are accepted.
class AcceptedTags {
public:
  explicit AcceptedTags(const Interpreter& interpreter);

  /// The rank of the best tag of `wheel`, 0 being the best of all; none when it does not fit.
  std::optional<std::size_t> rank(const WheelName& wheel) const;

  /// All tags in their order: `cp311-cp311-manylinux_2_36_x86_64`.
  std::vector<std::string> all() const;

  /// The best platform: `manylinux_2_36_x86_64`.
  const std::string& platform() const { return platforms_.front(); }

private:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  Pairs binary_{};  ///< interpreter and ABI, each with every platform
  Pairs pure_{};    ///< likewise, with `any` alone
  std::vector<std::string> platforms_{};
};

/// The place in `wheels`, all of one version, of the one that pip installs: the best tag, then the
/// highest build tag, then the first. None when nothing fits.
std::optional<std::size_t> best_wheel(const AcceptedTags& tags, std::span<const WheelName> wheels);

}  // namespace autopack::python
