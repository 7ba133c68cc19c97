#pragma once

#include "base/error.hpp"
#include "cli/flags.hpp"
#include "project/tool_settings.hpp"

namespace autopack::cli {

/// Returns why the value of `setting` cannot be a value of `flag`, by its JSON type alone; nothing
/// if it can. Must agree with the schema.
std::optional<Problem> shape_fault(const project::ToolSetting& setting, const FlagHelp& flag);

}  // namespace autopack::cli
