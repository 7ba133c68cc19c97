#pragma once

#include "plan/advice.hpp"

namespace autopack::plan {

/// Warns of programs that files of the project start and that the image surely lacks: those of
/// Debian's packages, and `python`. Says nothing of what may be for logs alone, such as git, and
/// of functions that nothing surely mentions.
Problems program_advice(const ReadablePlan& plan,
                        const ImportFindings& imports,
                        const BaseModules& in_base);

}  // namespace autopack::plan
