#pragma once

#include "executor/image_view.hpp"
#include "executor/python_facts.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::executor {

/// Facts and files of the Python of `base`, as `view` shows it; `layers` is how many it has.
PythonSurvey survey_python(ImageView& view, const image::BaseFacts& base, std::size_t layers);

/// One line of JSON with sorted keys, without the texts of pip's settings, which may hold secrets,
/// and without files.
std::string to_json_line(const PythonFacts& facts);
/// None when `text` is no such line, or one of another format.
std::optional<PythonFacts> python_facts_from_json(std::string_view text);

}  // namespace autopack::executor
