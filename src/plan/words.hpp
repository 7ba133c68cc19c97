#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::plan {

/// False for text that no line of a Dockerfile can hold: control characters, invalid UTF-8.
bool fits_dockerfile(std::string_view text);

/// A JSON array on one line; the words are taken as they are (ENTRYPOINT).
std::string json_words(const std::vector<std::string>& words);

/// The JSON array of COPY for exactly these paths: escaped for its variables, quotes and wildcards.
/// `destination` is a directory with a `/` at the end, or the new name.
std::string copy_words(const std::vector<std::string>& sources, const std::string& destination);

/// The lines of `text` as single-quoted words of a shell.
std::vector<std::string> quoted_lines(std::string_view text);

/// A one-line command of sed that puts `text` in the place of some lines; deletes them when empty.
std::string sed_expression(int first_line, int last_line, std::string_view text);

}  // namespace autopack::plan
