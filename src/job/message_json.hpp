#pragma once

#include <nlohmann/json_fwd.hpp>

namespace autopack::job {

/// Reads a message from JSON with the API's names and types; fields without a member go into its
/// bag. Instantiated for each message that is read on its own.
template <class T>
T read_message(const nlohmann::json& object);

/// Writes the same JSON. Omits empty lists, unless their member is optional.
template <class T>
nlohmann::json write_message(const T& message);

}  // namespace autopack::job
