#pragma once

#include <nlohmann/json_fwd.hpp>

namespace autopack::job {

/// A message from JSON with the API's names and types; what has no member goes into its bag. There
/// is one for each message that somebody reads on its own.
template <class T>
T read_message(const nlohmann::json& object);

/// The same JSON again. Lists that are empty are left out, unless their member is optional.
template <class T>
nlohmann::json write_message(const T& message);

}  // namespace autopack::job
