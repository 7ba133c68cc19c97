#pragma once

#include "job/flags.hpp"

#include <string>

namespace autopack::job {

/// A machine type for a pool that names none, by the table of machines: the smallest that takes the
/// pool's accelerators, and without any n1-standard-4, which Google's own SDK takes. n1-standard-8
/// when no machine takes them, which its own rules tell.
std::string usual_machine(const PoolFlags& pool);

}  // namespace autopack::job
