#pragma once

#include "base/environment.hpp"
#include "engine/docker.hpp"
#include "engine/settings.hpp"
#include "google/credentials.hpp"
#include "google/project.hpp"
#include "preflight/problems.hpp"
#include "registry/credentials.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

/// What `doctor` tells of this machine, from facts at hand.
namespace autopack::preflight {

/// Runs `look`; what it cannot do is an error of `check`, with the remedies of the Error. What gave
/// no answer (http::TransportError) or came too late goes through: it says nothing.
Problems or_error(const std::string& check, const std::function<Problems()>& look);

/// Row 22.
Problem judge_engine(const engine::EngineInfo& info, const engine::Endpoint& endpoint);
/// Rows 27 and 31 on this side: space for images, and the daemon's proxy.
Problems judge_settings(const engine::EngineSettings& settings, const Environment& environment);
/// Row 2: which login a push to `host` would use.
Problem judge_login(const std::optional<registry::Credential>& login, const std::string& host);
/// Row 2: root's logins are used instead of the user's.
Problems judge_sudo(const Environment& environment);
/// Row 28: whose token, and until when. `now` in seconds since the epoch.
Problem judge_credentials(const google::TokenSource& source,
                          const google::AccessToken& token,
                          std::int64_t now);
/// `check` is `project-setting` or `region-setting`, `name` the flag without dashes.
Problem judge_setting(const std::string& check,
                      const std::string& name,
                      const google::Setting& setting,
                      const std::vector<std::string>& remedies);

}  // namespace autopack::preflight
