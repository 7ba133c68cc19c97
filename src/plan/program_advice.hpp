#pragma once

#include "plan/advice.hpp"

namespace autopack::plan {

/// Warns about programs that files of the project start and that the image surely lacks: those of
/// Debian's packages, and `python`. Ignores programs that may only be for logs, such as git, and
/// functions that nothing surely mentions.
Problems program_advice(const ReadablePlan& plan,
                        const project::Project& project,
                        const ImportFindings& imports,
                        const BaseModules& in_base);

}  // namespace autopack::plan
