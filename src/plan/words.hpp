#pragma once

#include "plan/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::plan {

/// Returns false for text that a line of a Dockerfile cannot contain: control characters, invalid
/// UTF-8.
bool fits_dockerfile(std::string_view text);

/// Returns a JSON array on one line, for words that are used unchanged (ENTRYPOINT).
std::string json_words(const std::vector<std::string>& words);

/// Returns the JSON array of COPY for exactly these paths: escapes its variables, quotes and
/// wildcards. `destination` is a directory with a trailing `/`, or the new name.
std::string copy_words(const std::vector<std::string>& sources, const std::string& destination);

/// Returns the lines of `text` as single-quoted shell words.
std::vector<std::string> quoted_lines(std::string_view text);

/// Returns a one-line sed command that replaces some lines with `text`, or deletes them if it is
/// empty.
std::string sed_expression(int first_line, int last_line, std::string_view text);

/// Adds an error for each text of `plan` that cannot be written into a Dockerfile: one that does
/// not fit a line, a requirement that is an option of pip, and a base that is not the name of an
/// image.
void refuse_unfit_texts(const Plan& plan, Problems& problems);

}  // namespace autopack::plan
