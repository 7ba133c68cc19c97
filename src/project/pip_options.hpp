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

/// What this machine's pip is told for `pip install`, by the long names of its options without
/// dashes: from the files of the machine, of the user and of the virtual environment,
/// PIP_CONFIG_FILE and `PIP_*`, merged as pip does. Values may hold logins. Throws
/// Error(environment) for a file that cannot be read.
std::map<std::string, std::string> find_pip_options(const Environment& environment,
                                                    const std::filesystem::path& system = "/etc");

/// What of that changes which packages are installed. Files that cannot be read count as absent.
UserPip find_user_pip(const Environment& environment);

/// The words of an option that may have several.
std::vector<std::string> pip_words(std::string_view value);

/// The text of the netrc file that pip reads; none when there is no such file. Throws
/// Error(environment) when it cannot be read.
std::optional<Secret> find_netrc(const Environment& environment);

}  // namespace autopack::project
