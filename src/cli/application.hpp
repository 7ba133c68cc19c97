#pragma once

#include "base/environment.hpp"
#include "cli/console.hpp"
#include "engine/docker.hpp"
#include "http/client.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace autopack::cli {

/// The program's environment: the process's own, or a test's.
struct Surroundings {
  Environment environment{};
  Streams streams{};
  Cancellation* cancellation{nullptr};
  std::function<std::unique_ptr<http::Client>(http::ClientOptions)> make_client{};
  std::function<std::shared_ptr<engine::Docker>(engine::DockerOptions)> make_docker{};
};

/// Returns true for a command line (without the program's name) that almost always needs a server.
bool asks_servers(const std::vector<std::string>& typed);

/// Runs one command line (without the program's name) and returns the exit status. Never throws.
int run_application(const std::vector<std::string>& typed, const Surroundings& surroundings);

}  // namespace autopack::cli
