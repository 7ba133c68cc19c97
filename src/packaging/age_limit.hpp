#pragma once

#include "packaging/wanted.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace autopack::packaging {

/// `--max-dependency-age` for one plan. What is pinned never ages.
class AgeLimit {
public:
  AgeLimit(const Request& request, const project::Project& project, const plan::Plan& plan);

  /// False when there is no limit, or nothing that could age.
  bool applies() const { return applies_; }

  /// True when what was installed by the RUN steps of an image at `times` is older than the limit
  /// at `now`, seconds since 1970; an image that does not tell counts as old.
  bool is_past(std::vector<std::int64_t> times, bool is_dependency_image, std::int64_t now) const;

  /// `they are older than 1 day`.
  std::string reason() const;

private:
  std::chrono::seconds limit_{0};
  bool applies_{false};
  bool installed_after_code_{false};
};

}  // namespace autopack::packaging
