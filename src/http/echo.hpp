#pragma once

#include "http/client.hpp"

namespace autopack::http {

/// Makes `***` of all that logs `request` in, wherever `response` repeats it: what a server says
/// about a refusal is shown to people.
void hide_logins(const Request& request, Response& response);

}  // namespace autopack::http
