#pragma once

#include "job/flag_value.hpp"
#include "project/tool_settings.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::job {

/// The keys of an `autopack.yaml`. `config`, when it is an object, is its own text on the lines
/// where it stands, so that findings in it name the right one. Error(usage) with file and line.
std::vector<project::ToolSetting> read_settings_file(std::string_view text,
                                                     const std::string& file);

/// What a setting gives its flag, one value per time. Error(usage) with file and line for what no
/// flag can be.
FlagValues flag_values(const project::ToolSetting& setting);

/// Lets every pool have what the file says of packaging at its top, and every packaging command
/// what the file's packaged pool says, so that either is written once. All of one file.
std::vector<project::ToolSetting> spread_packaging(std::vector<project::ToolSetting> settings);

/// The lines of `autopack.yaml` that say that `key` is `value`.
std::string settings_entry(const std::string& key, const nlohmann::json& value);

/// The text of `autopack.yaml` with `added` (flag values as typed) at its end. What is there stays
/// as it is; a key that is there with other values is Error(usage) with its line.
std::string save_settings(const std::string& text,
                          const std::string& file,
                          const std::vector<std::pair<std::string, nlohmann::json>>& added);

}  // namespace autopack::job
