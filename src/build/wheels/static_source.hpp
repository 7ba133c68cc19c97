#pragma once

#include "build/wheels/static_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// Returns the `Requires-Dist` lines of a source distribution, read from its setup.py
/// without running it; nothing if only its build knows them, or if the archive is damaged, is not a
/// compressed tar, or is too large to be read for this.
std::optional<std::vector<std::string>> static_requirements(const std::filesystem::path& archive);

/// Returns the wheel that setuptools makes of a source distribution of pure Python, with the same
/// installed files, made without running its setup.py; nothing as above. The same archive gives the
/// same bytes.
std::optional<StaticWheel> static_wheel(const std::filesystem::path& archive);

/// Returns the same for the directory of sources that has `files`; nothing also if setup.py does
/// not say its name and version.
std::optional<StaticWheel> static_wheel(SourceFiles files);

/// Returns true if a directory with so many files of `size` bytes in all may be read for that.
bool may_be_read(std::size_t count, std::uint64_t size);

}  // namespace autopack::build
