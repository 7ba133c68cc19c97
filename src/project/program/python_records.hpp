#pragma once

#include "project/code/python_file.hpp"
#include "source/tree.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

/// Serializes the facts in a Python file.
std::string to_bytes(const PythonFile& file);

/// Parses the result of to_bytes; returns nothing if `text` is invalid.
std::optional<PythonFile> python_file_of(std::string_view text);

/// Returns bytes that identify the state of a file.
std::string state_of(const source::Entry& entry);

/// Appends `bytes` after their length.
void append_counted(std::string& text, std::string_view bytes);

/// Consumes an append_counted value at the front of `text`; returns nothing if it is incomplete.
std::optional<std::string_view> take_counted(std::string_view& text);

}  // namespace autopack::project
