#pragma once

#include "base/process.hpp"

#include <filesystem>

namespace autopack::resolve {

/// The project that autopack makes for uv of requirements that are in no file.
inline constexpr auto* project_of_requirements = "autopack-requirements";

/// Throws the explanation of uv, which failed in the folder `project`, as an error about the user's
/// files: BuildNeeded if uv would have to build a package, else Error(remote) if an index failed,
/// and Error(project).
[[noreturn]] void throw_uv_failure(const ProcessResult& result,
                                   const std::filesystem::path& project);

}  // namespace autopack::resolve
