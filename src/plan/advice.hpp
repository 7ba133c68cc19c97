#pragma once

#include "plan/plan.hpp"

#include <functional>
#include <string>
#include <vector>

namespace autopack::plan {

/// Those of some modules (`numpy`, `google.cloud.storage`) that the executor image is known to
/// hold.
using BaseModules =
    std::function<std::vector<std::string>(const std::vector<std::string>& modules)>;

/// What will probably go wrong, or costs more than it must, with the image of `plan`: a local
/// module that is imported and not in it, an imported package that nothing installs, a requirement
/// that replaces the framework of the base. Reads the Python files that the program's imports lead
/// to. The executor image is looked into (`in_base`,
/// which may be empty) only when a package is imported that no requirement names.
Problems advice(const Plan& plan, const project::Project& project, const BaseModules& in_base = {});

/// The part about imports.
Problems import_advice(const Plan& plan,
                       const project::Project& project,
                       const BaseModules& in_base = {});

/// The entry of `plan` that stands at `path` in the image's working directory; null when none does.
const ContextEntry* entry_in_image(const Plan& plan, const std::string& path);

}  // namespace autopack::plan
