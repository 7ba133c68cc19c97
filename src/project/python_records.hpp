#pragma once

#include "project/python_file.hpp"
#include "source/tree.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

/// What a Python file says, as bytes.
std::string to_bytes(const PythonFile& file);

/// What to_bytes was given; none when `text` is no result of it.
std::optional<PythonFile> python_file_of(std::string_view text);

/// What tells a state of a file from all others, as bytes.
std::string state_of(const source::Entry& entry);

/// `bytes` behind their length.
void append_counted(std::string& text, std::string_view bytes);

/// Takes what append_counted added from the front of `text`; none when that ends early.
std::optional<std::string_view> take_counted(std::string_view& text);

}  // namespace autopack::project
