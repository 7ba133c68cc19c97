#pragma once

#include "pipeline/package.hpp"
#include "registry/client.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace autopack::pipeline {

/// `--max-dependency-age` for one plan. What is pinned never ages.
class AgeLimit {
public:
  AgeLimit(const PackageRequest& request, const Scanned& scanned, const plan::Plan& plan);

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

/// When the RUN steps of the image `digest` ran, by its configuration.
std::vector<std::int64_t> run_times(Services& services,
                                    registry::Repository& repository,
                                    const Digest& digest,
                                    const std::string& platform);

}  // namespace autopack::pipeline
