#pragma once

#include "executor/image_view.hpp"
#include "executor/python_facts.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::executor {

/// Returns facts and files of the Python of `base`, read through `view`; `layers` is its number of
/// layers.
PythonSurvey survey_python(ImageView& view, const image::BaseFacts& base, std::size_t layers);

/// Returns one line of JSON with sorted keys. It omits the files, and the texts of pip's settings,
/// which may contain secrets.
std::string to_json_line(const PythonFacts& facts);
/// Returns nothing if `text` is not such a line, or has another format.
std::optional<PythonFacts> python_facts_from_json(std::string_view text);

}  // namespace autopack::executor
