#pragma once

#include "base/error.hpp"
#include "job/origin.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::job {

/// The project and region of a job. A submitter that runs it here needs neither.
struct Location {
  std::optional<std::string> project{};
  std::optional<std::string> region{};
  /// The regions to try, in order, of which `region` is one; empty if only one was named.
  std::vector<std::string> regions{};
  std::optional<Origin> project_origin{};
  std::optional<Origin> region_origin{};

  bool is_complete() const { return project && region; }
};

/// Reports the missing parts that a Google service needs: project, region.
Problems missing_parts(const Location& location);

}  // namespace autopack::job
