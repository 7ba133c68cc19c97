#pragma once

#include "pipeline/explanation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace autopack::cli {

/// Returns `templates/explain.html` at build time.
std::string_view explanation_template();

/// Returns the output of `explain --format=json`: the Plan with the facts about it.
nlohmann::json explanation_object(const pipeline::Explanation& explanation, const plan::Plan& plan);

/// Returns an HTML page that needs no other file and no network, and shows an explanation_object(),
/// a job_object() as its member `job`, or both.
std::string explanation_page(const nlohmann::json& shown);

}  // namespace autopack::cli
