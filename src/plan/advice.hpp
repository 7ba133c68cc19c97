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

/// Returns whether the executor image contains each of some modules (`numpy`,
/// `google.cloud.storage`); omits unknown ones.
using BaseModules =
    std::function<std::map<std::string, bool>(const std::vector<std::string>& modules)>;

/// Returns the versions of what the executor image has installed, by name; nothing if they are not
/// known.
using BaseVersions = std::function<std::optional<std::map<std::string, std::string>>()>;

/// Findings about a plan that can be built.
struct Advice {
  Problems warnings{};                 ///< probable failures, and avoidable costs
  std::vector<std::string> details{};  ///< possible failures, for -v
};

/// Reports local modules that are imported and not in the image of `plan`, imported packages that
/// nothing provides, files that are not Python of the executor image (`faults`), and requirements
/// that replace the base's framework. `imports` are those of the plan (see walk_imports). Calls
/// `in_base` (may be empty), which looks into the executor image, only if a package is imported
/// that no requirement names.
/// Calls `versions`, which may be empty too, only if a requirement lacks a hash.
Advice advice(const ReadablePlan& plan,
              const project::Project& project,
              ImportFindings imports,
              const BaseModules& in_base = {},
              const SyntaxFaults& faults = {},
              const BaseVersions& versions = {});

/// Only the part about imports.
Advice import_advice(const ReadablePlan& plan,
                     const project::Project& project,
                     ImportFindings imports,
                     const BaseModules& in_base = {});

/// Orders Plan::code, for a binary search by path.
bool comes_before(const ContextEntry& entry, const std::string& path);

/// Returns the entry of `plan` at `path` in the image's working directory; null if there is none.
const ContextEntry* entry_in_image(const Plan& plan, const std::string& path);

/// The same, following symbolic links on the way and at its end.
const ContextEntry* entry_behind_links(const Plan& plan, std::string path);

/// Returns true if Python would find something in the directory of the context; a directory of data
/// is not a module.
bool holds_python(const Plan& plan, const std::string& directory);

/// Returns the deep learning framework that the executor image contains according to its name, as a
/// distribution: `torch`, `tensorflow`; nothing if there is none.
std::optional<std::string> framework_in(const image::BaseFacts& base);

}  // namespace autopack::plan
