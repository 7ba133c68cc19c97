#pragma once

#include "http/client.hpp"

namespace autopack::http {

/// Replaces every credential of `request` in `response` with `***`: refusals are shown to people.
void hide_logins(const Request& request, Response& response);

}  // namespace autopack::http
