#pragma once

#include "plan/plan.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace autopack::plan {

/// More than this is told when it goes in, and left out when nothing asks for it.
inline constexpr std::uint64_t much{50'000'000};

/// True for a file that programs are made of, by its name.
bool is_code_name(std::string_view path);

struct FoundBallast {
  std::vector<Ballast> directories{};
  std::vector<bool> stays_out{};  ///< by entry
  bool keeps_some{false};         ///< something in them was asked for
};

/// The directories of a tree that hold much, no code, and nothing that code, configuration or a
/// script names, or the user asked for. `walked` is the tree's entries, what a directory holds
/// right behind it.
FoundBallast find_ballast(std::span<const ContextEntry> walked,
                          const PlacedTree& place,
                          const source::Selection& selection);

/// One line for each directory of Plan::ballast, and for each directory or file of the image that
/// weighs much.
Problems weight_advice(const Plan& plan);

}  // namespace autopack::plan
