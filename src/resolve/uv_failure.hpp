#pragma once

#include "base/process.hpp"
#include "resolve/resolver.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace autopack::resolve {

/// The project that autopack makes for uv of requirements that are in no file.
inline constexpr auto* project_of_requirements = "autopack-requirements";

/// Throws the explanation of uv, which failed in the folder `project`, as an error about the user's
/// files: BuildNeeded if uv would have to build a package, else Error(remote) if an index failed,
/// and Error(project).
[[noreturn]] void throw_uv_failure(const ProcessResult& result,
                                   const std::filesystem::path& project);

/// Returns the extras of which uv warns in `errors` that their packages do not have them.
std::vector<MissingExtra> missing_extras_in(const std::string& errors);

}  // namespace autopack::resolve
