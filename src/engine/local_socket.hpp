#pragma once

#include <filesystem>
#include <string>

namespace autopack::engine {

/// Returns true if a server listens on the socket `path`, and this user may connect.
bool accepts_connection(const std::filesystem::path& path);

/// Starts `podman system service` on the socket `path`, and waits until it listens there. The
/// service ends by itself a minute after the last request. Throws Error(environment) with what
/// podman printed.
void start_podman(const std::filesystem::path& path);

}  // namespace autopack::engine
