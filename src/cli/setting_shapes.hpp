#pragma once

#include "base/error.hpp"
#include "cli/flags.hpp"
#include "project/tool_settings.hpp"

namespace autopack::cli {

/// What keeps the value of `setting` from being a value of `flag`, by its JSON type alone; none
/// when it can be one. The schema says the same.
std::optional<Problem> shape_fault(const project::ToolSetting& setting, const FlagHelp& flag);

}  // namespace autopack::cli
