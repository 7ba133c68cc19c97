#pragma once

#include "http/client.hpp"

#include <memory>

namespace autopack::http {

/// Returns a client that leaves this machine's sockets to `local`, and sends nothing else: each
/// such request throws TransportError.
std::shared_ptr<Client> make_offline_client(std::shared_ptr<Client> local);

}  // namespace autopack::http
