#pragma once

#include "job/flag_value.hpp"
#include "project/tool_settings.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::job {

/// Returns the settings of an `autopack.yaml`, also those of its targets and of the blocks of
/// submitters, whose keys become flags' names (see settings_blocks.hpp). If `config` is an object,
/// its value is the original text with its line numbers, so that findings name the right line.
/// Throws Error(usage) with file and line.
std::vector<project::ToolSetting> read_settings_file(std::string_view text,
                                                     const std::string& file);

/// Returns the values that a setting gives its flag, one for each occurrence. Throws Error(usage)
/// with file and line if a value cannot belong to a flag.
FlagValues flag_values(const project::ToolSetting& setting);

/// Copies top-level packaging keys to every pool, and the packaging keys of the file's packaged
/// pool to every packaging command, so that each is written once. `settings` must contain all of
/// one file.
std::vector<project::ToolSetting> spread_packaging(std::vector<project::ToolSetting> settings);

/// Returns the lines of `autopack.yaml` that set `key` to `value`.
std::string settings_entry(const std::string& key, const nlohmann::json& value);

/// Returns the text of `autopack.yaml` with `added` (flag values as typed) at its end. Keeps
/// existing lines. If a key already has other values, throws Error(usage) with its line.
std::string save_settings(const std::string& text,
                          const std::string& file,
                          const std::vector<std::pair<std::string, nlohmann::json>>& added);

}  // namespace autopack::job
