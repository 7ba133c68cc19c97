#pragma once

#include "engine/api.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace autopack::engine {

/// The label of autopack's containers, whose value says which process made them.
constexpr std::string_view owner_label{"autopack.owner"};

/// This process, told from all others of this machine, before and after.
std::string this_owner();

/// True when the process that `owner` names is of this machine and user, and has ended. False where
/// that cannot be told.
bool has_ended(std::string_view owner);

/// The same of what no other machine writes, such as files of this user: true as well when the
/// machine was started again since.
bool has_ended_here(std::string_view owner);

/// True when the owner that `labels` name has ended. Machines that share an engine may be copies of
/// each other, so that a start of the machine counts at an engine of its own alone.
bool is_left(const Api& api, const nlohmann::json& labels);

/// Names of the containers of runs that were killed, or whose removals failed; without those that
/// still run. Throws as Api::send_ok does.
std::vector<std::string> left_containers(Api& api);

/// Removes the containers of runs that were killed, or whose removals failed. One that still runs
/// is a program whose outcome somebody may wait for. A failure is told in detail, nothing else.
void remove_left_containers(Api& api) noexcept;

}  // namespace autopack::engine
