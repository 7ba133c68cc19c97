#pragma once

#include "job/job.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::job {

/// Flags and file as one CustomJob, not yet checked.
struct Draft {
  std::shared_ptr<nlohmann::json> body{};
  Origins origins{};
  std::vector<std::size_t> packaged_pools{};
  std::optional<PoolFlags> packaging{};

  bool is_packaged(std::size_t pool) const;
};

/// `jobSpec.workerPoolSpecs[INDEX]`.
std::string pool_path(std::size_t index);

/// Merges by pool into a draft that holds the file, flags winning key by key. Flags that reach no
/// pool become problems.
void merge_pools(const JobFlags& flags, Draft& draft, Problems& problems);

/// Sets the fields of the whole job. Durations and key names that are none become problems.
void merge_fields(const JobFlags& flags,
                  const Location& location,
                  Draft& draft,
                  Problems& problems);

}  // namespace autopack::job
