#pragma once

#include "base/environment.hpp"
#include "engine/docker.hpp"
#include "google/credentials.hpp"
#include "google/project.hpp"
#include "preflight/problems.hpp"
#include "registry/credentials.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

/// Findings of `doctor` about this machine.
namespace autopack::preflight {

/// Runs `look`, and converts an Error to a finding of `check` with its remedies. Rethrows a failed
/// connection (http::TransportError) and a timeout, which prove nothing.
Problems or_error(const std::string& check, const std::function<Problems()>& look);

/// Checks that the engine is usable.
Problem judge_engine(const engine::EngineInfo& info, const engine::Endpoint& endpoint);
/// Checks the space for images and the engine's proxy.
Problems judge_settings(const engine::EngineSettings& settings, const Environment& environment);
/// Reports which login a push to `host` would use.
Problem judge_login(const std::optional<registry::Credential>& login, const std::string& host);
/// Warns if root's logins are used instead of the user's.
Problems judge_sudo(const Environment& environment);
/// Reports whose token is used, and its expiry. `now` in seconds since the epoch.
Problem judge_credentials(const google::TokenSource& source,
                          const google::AccessToken& token,
                          std::int64_t now);
/// `check` is `project-setting` or `region-setting`, `name` the flag without dashes.
Problem judge_setting(const std::string& check,
                      const std::string& name,
                      const google::Setting& setting,
                      const std::vector<std::string>& remedies);

}  // namespace autopack::preflight
