#pragma once

#include "python/version.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::python {

/// What an environment marker is evaluated with. A variable that is not in `variables` is not
/// known.
struct MarkerEnvironment {
  std::map<std::string, std::string, std::less<>> variables{};
  std::vector<std::string> extras{};             ///< asked for; PEP 503 names
  std::vector<std::string> dependency_groups{};  ///< likewise
};

/// CPython on Linux. `python` may be `3.11` alone: then the full version is not known. `machine` is
/// the kernel's word, `x86_64`.
MarkerEnvironment environment_on_linux(const Version& python,
                                       std::optional<std::string_view> machine);

/// An environment marker (PEP 508): `python_version < "3.9" and sys_platform != "win32"`.
class Marker {
public:
  struct Node;

  /// None when `text` is no marker, or nests more than 50 levels of brackets.
  static std::optional<Marker> parse(std::string_view text);

  /// None when it depends on a variable that is not known.
  std::optional<bool> holds_in(const MarkerEnvironment& environment) const;

private:
  explicit Marker(std::shared_ptr<const Node> root) : root_{std::move(root)} {}

  std::shared_ptr<const Node> root_;
};

}  // namespace autopack::python
