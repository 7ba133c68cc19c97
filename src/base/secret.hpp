#pragma once

#include <string>
#include <utility>

namespace autopack {

/// A value that must not be printed. It deliberately has no stream or format operator; `reveal`
/// marks the places that use it.
class Secret {
public:
  Secret() = default;

  explicit Secret(std::string value) : value_{std::move(value)} {}

  const std::string& reveal() const { return value_; }

  bool empty() const { return value_.empty(); }

  bool operator==(const Secret&) const = default;

private:
  std::string value_;
};

}  // namespace autopack
