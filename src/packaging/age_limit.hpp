#pragma once

#include "packaging/wanted.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace autopack::packaging {

/// `--max-dependency-age` for one plan. Pinned requirements never age.
class AgeLimit {
public:
  AgeLimit(const Request& request, const project::Project& project, const plan::Plan& plan);

  /// False if there is no limit, or nothing that could age.
  bool applies() const { return applies_; }

  /// True if an installation by RUN steps at `times` exceeds the limit at `now`; all in seconds
  /// since 1970. An image without times counts as too old.
  bool is_past(std::vector<std::int64_t> times, bool is_dependency_image, std::int64_t now) const;

  /// Returns `they are older than 1 day`.
  std::string reason() const;

private:
  std::chrono::seconds limit_{0};
  bool applies_{false};
  bool installed_after_code_{false};
};

}  // namespace autopack::packaging
