#pragma once

#include "pipeline/explanation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace autopack::cli {

/// `brief` sums up long lists.
enum class Detail { brief, whole };

/// Returns the text for people, at most 80 columns wide if names allow it.
std::string explanation_text(const pipeline::Explanation& explanation,
                             const plan::Plan& plan,
                             Detail detail = Detail::brief);

/// Returns the fields of explanation_object() that a Plan does not have.
nlohmann::json explanation_json(const pipeline::Explanation& explanation);

}  // namespace autopack::cli
