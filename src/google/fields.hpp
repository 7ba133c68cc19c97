#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace autopack::google {

/// The text at `key` of an answer; empty when `object` is no object or has no text there.
std::string text_at(const nlohmann::json& object, const char* key);

}  // namespace autopack::google
