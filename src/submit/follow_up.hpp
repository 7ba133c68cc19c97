#pragma once

#include "base/error.hpp"

#include <nlohmann/json_fwd.hpp>

namespace autopack::submit {

/// Returns `error` with the commands that follow and cancel `job` as hints.
Error with_follow_up(Error error, const nlohmann::json& job);

}  // namespace autopack::submit
