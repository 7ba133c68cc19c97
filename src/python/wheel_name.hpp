#pragma once

#include "python/version.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::python {

/// The number in front of a build tag and what follows it: `1_cuda` is 1 and `_cuda`.
using BuildTag = std::pair<std::uint64_t, std::string>;

/// What the name of a wheel's file says: `numpy-1.26.4-1-cp311-cp311-manylinux_2_17_x86_64.whl`.
struct WheelName {
  std::string name{};          ///< normalised (PEP 503)
  std::string distribution{};  ///< as written, which is how its `.dist-info` is called
  Version version{};
  std::optional<BuildTag> build{};          ///< none sorts below any
  std::vector<std::string> interpreters{};  ///< lower case: `py2`, `py3` of `py2.py3`
  std::vector<std::string> abis{};          ///< likewise
  std::vector<std::string> platforms{};     ///< likewise

  /// None when `file` is not the name of a wheel that can be installed; see wheel_name_fault.
  static std::optional<WheelName> parse(std::string_view file);
};

/// Why `file` is not the name of a wheel that can be installed, in words; none when it is. What
/// pypa's packaging takes is taken, with ASCII names of at most 512 bytes.
std::optional<std::string> wheel_name_fault(std::string_view file);

}  // namespace autopack::python
