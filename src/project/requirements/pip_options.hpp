#pragma once

#include "base/environment.hpp"
#include "base/secret.hpp"
#include "project/project.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// Returns the settings of this machine's pip for `pip install`, by the long names of its options
/// without dashes: from the files of the machine, of the user and of the virtual environment,
/// PIP_CONFIG_FILE and `PIP_*`, merged as pip does. Values may contain logins. Throws
/// Error(environment) for an unreadable file.
std::map<std::string, std::string> find_pip_options(const Environment& environment,
                                                    const std::filesystem::path& system = "/etc");

/// Returns the settings that change which packages are installed. Unreadable files count as absent.
UserPip find_user_pip(const Environment& environment);

/// Returns the words of an option with several values.
std::vector<std::string> pip_words(std::string_view value);

/// Returns the text of the netrc file that pip reads; nothing if there is no such file. Throws
/// Error(environment) if it is unreadable.
std::optional<Secret> find_netrc(const Environment& environment);

}  // namespace autopack::project
