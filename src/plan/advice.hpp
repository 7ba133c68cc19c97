#pragma once

#include "plan/import_walk.hpp"
#include "plan/plan.hpp"
#include "plan/syntax_advice.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::plan {

/// Whether the executor image holds each of some modules (`numpy`, `google.cloud.storage`); what is
/// not known is absent.
using BaseModules =
    std::function<std::map<std::string, bool>(const std::vector<std::string>& modules)>;

/// What is worth telling of a plan that can be built.
struct Advice {
  Problems warnings{};                 ///< what will probably go wrong, or costs more than it must
  std::vector<std::string> details{};  ///< what may go wrong, for those who want to know all
};

/// A local module that is imported and not in the image of `plan`, an imported package that nothing
/// provides, a file that is not Python of the executor image (`faults`), a requirement that
/// replaces the framework of the base. `imports` are those of the plan (see walk_imports). The
/// executor image is looked into
/// (`in_base`, which may be empty) only when a package is imported that no requirement names.
Advice advice(const ReadablePlan& plan,
              const project::Project& project,
              ImportFindings imports,
              const BaseModules& in_base = {},
              const SyntaxFaults& faults = {});

/// The part about imports.
Advice import_advice(const ReadablePlan& plan,
                     const project::Project& project,
                     ImportFindings imports,
                     const BaseModules& in_base = {});

/// The order of Plan::code, for a binary search by path.
bool comes_before(const ContextEntry& entry, const std::string& path);

/// The entry of `plan` that stands at `path` in the image's working directory; null when none does.
const ContextEntry* entry_in_image(const Plan& plan, const std::string& path);

/// The same with symbolic links on the way followed, and at its end.
const ContextEntry* entry_behind_links(const Plan& plan, std::string path);

/// True when Python would find something in the directory of the context; one of data alone is no
/// module.
bool holds_python(const Plan& plan, const std::string& directory);

/// The deep learning framework that the executor image is known to bring by its name, as a
/// distribution: `torch`, `tensorflow`; none when none is.
std::optional<std::string> framework_in(const image::BaseFacts& base);

}  // namespace autopack::plan
