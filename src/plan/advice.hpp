#pragma once

#include "plan/plan.hpp"

namespace autopack::plan {

/// What will probably go wrong, or costs more than it must, with the image of `plan`: a local
/// module that is imported and not in it, an imported package that nothing installs, large files,
/// much data beside the code, a requirement that replaces the framework of the base. Reads the
/// Python files that the program's imports lead to.
Problems advice(const Plan& plan, const project::Project& project);

/// The part about imports.
Problems import_advice(const Plan& plan, const project::Project& project);

/// The entry of `plan` that stands at `path` in the image's working directory; null when none does.
const ContextEntry* entry_in_image(const Plan& plan, const std::string& path);

}  // namespace autopack::plan
