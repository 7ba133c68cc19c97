#pragma once

#include "pipeline/explanation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace autopack::cli {

/// `templates/explain.html` as it was at build time.
std::string_view explanation_template();

/// What `explain --format=json` prints: the Plan, with what was found out about it.
nlohmann::json explanation_object(const pipeline::Explanation& explanation, const plan::Plan& plan);

/// A page of HTML that needs no other file and no network, and shows an explanation_object(), a
/// job_object() as its member `job`, or both.
std::string explanation_page(const nlohmann::json& shown);

}  // namespace autopack::cli
