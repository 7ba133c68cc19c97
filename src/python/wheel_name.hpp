#pragma once

#include "python/version.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::python {

/// The number at the start of a build tag, and the rest: `1_cuda` gives 1 and `_cuda`.
using BuildTag = std::pair<std::uint64_t, std::string>;

/// The parts of a wheel's file name: `numpy-1.26.4-1-cp311-cp311-manylinux_2_17_x86_64.whl`.
struct WheelName {
  std::string name{};          ///< normalised (PEP 503)
  std::string distribution{};  ///< as written, which is also the name of its `.dist-info`
  Version version{};
  std::optional<BuildTag> build{};          ///< absent sorts below any other
  std::vector<std::string> interpreters{};  ///< lower case: `py2`, `py3` of `py2.py3`
  std::vector<std::string> abis{};          ///< in lower case
  std::vector<std::string> platforms{};     ///< in lower case

  /// Returns nothing if `file` is not the name of a wheel that can be installed; see
  /// wheel_name_fault.
  static std::optional<WheelName> parse(std::string_view file);
};

/// Returns why `file` is not the name of a wheel that can be installed, or nothing if it is.
/// Accepts the same names as pypa's packaging, if they are ASCII and at most 512 bytes long.
std::optional<std::string> wheel_name_fault(std::string_view file);

}  // namespace autopack::python
