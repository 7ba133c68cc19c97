#pragma once

#include "base/error.hpp"
#include "packaging/wanted.hpp"
#include "pipeline/planning.hpp"
#include "services/services.hpp"

namespace autopack::pipeline {

/// Called with the `error` that ended the packaging of `wanted`. If no engine answers, Cloud Build
/// could do its work, and a person agrees, returns the same request with Cloud Build. Else returns
/// null; if nobody agreed, `error` gets a hint that names the flag.
WantedPtr offer_cloud_build(Services& services, const WantedPtr& wanted, Error& error);

}  // namespace autopack::pipeline
