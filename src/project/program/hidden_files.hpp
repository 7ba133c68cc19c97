#pragma once

#include "project/findings.hpp"
#include "source/ignore.hpp"

#include <string>

namespace autopack::project {

/// Warns that the Python code `from` reads the file `path` in `line`, which `rule` leaves out.
void warn_of_hidden(Findings& findings,
                    const source::Rule& rule,
                    const std::string& from,
                    int line,
                    const std::string& path);

/// Takes in the files that setup.py opens and only git ignores, and warns of those that another
/// rule leaves out.
void check_files_of_setup(Findings& findings);

}  // namespace autopack::project
