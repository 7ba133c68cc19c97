#pragma once

#include "plan/plan.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace autopack::plan {

/// More than this is reported if included, and excluded if nothing refers to it.
inline constexpr std::uint64_t much{50'000'000};

/// Returns true for a file of a program, by its name.
bool is_code_name(std::string_view path);

struct FoundLargeDirectories {
  std::vector<LargeDirectory> directories{};
  std::vector<bool> stays_out{};  ///< by entry
  bool keeps_some{false};         ///< the user requested something in them
};

/// Finds the directories of a tree that are large, contain no code, and that neither code,
/// configuration, a script nor the user refers to. `walked` are the tree's entries, with the
/// contents of a directory directly after it.
FoundLargeDirectories find_large_directories(std::span<const ContextEntry> walked,
                                             const PlacedTree& place,
                                             const source::Selection& selection);

/// Reports each directory of Plan::large_directories, and each large directory or file of the
/// image, in one line.
Problems weight_advice(const Plan& plan);

}  // namespace autopack::plan
