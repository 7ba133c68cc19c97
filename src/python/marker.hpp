#pragma once

#include "python/version.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::python {

/// The input for evaluating an environment marker. A variable that is not in `variables` is
/// unknown.
struct MarkerEnvironment {
  std::map<std::string, std::string, std::less<>> variables{};
  std::vector<std::string> extras{};             ///< requested extras; PEP 503 names
  std::vector<std::string> dependency_groups{};  ///< requested groups; PEP 503 names
};

/// Returns the environment of CPython on Linux. `python` may be `3.11`: then the full version is
/// unknown. `machine` is the kernel's name, such as `x86_64`.
MarkerEnvironment environment_on_linux(const Version& python,
                                       std::optional<std::string_view> machine);

/// An environment marker (PEP 508): `python_version < "3.9" and sys_platform != "win32"`.
class Marker {
public:
  struct Node;

  /// Returns nothing if `text` is not a marker, or nests more than 50 levels of parentheses.
  static std::optional<Marker> parse(std::string_view text);

  /// Returns nothing if the result depends on an unknown variable.
  std::optional<bool> holds_in(const MarkerEnvironment& environment) const;

private:
  explicit Marker(std::shared_ptr<const Node> root) : root_{std::move(root)} {}

  std::shared_ptr<const Node> root_;
};

}  // namespace autopack::python
