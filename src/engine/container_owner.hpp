#pragma once

#include "engine/api.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace autopack::engine {

/// The label of autopack's containers; its value identifies the process that created them.
constexpr std::string_view owner_label{"autopack.owner"};

/// Returns a text that identifies this process among all processes of this machine, past and
/// future.
std::string this_owner();

/// Returns true if the process in `owner` belongs to this machine and user, and has ended. Returns
/// false if that is unknown.
bool has_ended(std::string_view owner);

/// The same for owners that only this machine writes, such as in files of this user: also returns
/// true if the machine was restarted since.
bool has_ended_here(std::string_view owner);

/// Returns true if the owner in `labels` has ended. Machines that share an engine may be copies of
/// each other, so a restart of the machine counts only for its own engine.
bool is_left(const Api& api, const nlohmann::json& labels);

/// Returns the names of containers left by killed runs or failed removals, except those still
/// running. Throws as Api::send_ok does.
std::vector<std::string> left_containers(Api& api);

/// Removes the containers left by killed runs or failed removals. Keeps a running one, because
/// somebody may wait for its result. Reports failures only with -v.
void remove_left_containers(Api& api) noexcept;

}  // namespace autopack::engine
