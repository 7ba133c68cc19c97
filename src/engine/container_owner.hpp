#pragma once

#include "engine/api.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::engine {

/// The label of autopack's containers, whose value says which process made them.
constexpr std::string_view owner_label{"autopack.owner"};

/// This process, told from all others of this machine, before and after.
std::string this_owner();

/// True when the process that `owner` names is of this machine and user, and has ended.
bool has_ended(std::string_view owner);

/// Names of the containers of runs that were killed, or whose removals failed; without those that
/// still run. Throws as Api::send_ok does.
std::vector<std::string> left_containers(Api& api);

/// Removes the containers of runs that were killed, or whose removals failed. One that still runs
/// is a program whose outcome somebody may wait for. A failure is told in detail, nothing else.
void remove_left_containers(Api& api) noexcept;

}  // namespace autopack::engine
