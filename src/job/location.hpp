#pragma once

#include "base/error.hpp"
#include "job/origin.hpp"

#include <optional>
#include <string>

namespace autopack::job {

/// The project and region of a job. A submitter that runs it here needs neither.
struct Location {
  std::optional<std::string> project{};
  std::optional<std::string> region{};
  std::optional<Origin> project_origin{};
  std::optional<Origin> region_origin{};

  bool is_complete() const { return project && region; }
};

/// Reports the missing parts that a Google service needs: project, region.
Problems missing_parts(const Location& location);

}  // namespace autopack::job
