#pragma once

#include "base/error.hpp"
#include "job/origin.hpp"

#include <optional>
#include <string>
#include <string_view>
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

/// Returns `image_name` with `region` for the word `REGION`, which lets each region have an image
/// of its own: `REGION-docker.pkg.dev/project/repository/image`.
std::string with_region(std::string_view image_name, std::string_view region);
/// Returns true if `image_name` has that word.
bool names_region(std::string_view image_name);

/// Reports the missing parts that a Google service needs: project, region.
Problems missing_parts(const Location& location);

}  // namespace autopack::job
