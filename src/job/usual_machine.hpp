#pragma once

#include "job/flags.hpp"

#include <string>

namespace autopack::job {

/// Returns a machine type for a pool that names none. Without accelerators: n1-standard-4, the
/// default of Google's SDK. With accelerators: the smallest machine in the table that supports
/// them. If no machine does: n1-standard-8, and the rules report the accelerators.
std::string usual_machine(const PoolFlags& pool);

}  // namespace autopack::job
