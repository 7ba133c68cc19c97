#pragma once

#include "plan/plan.hpp"
#include "support/memory_tree.hpp"

#include <memory>
#include <string>
#include <vector>

namespace autopack {

/// Returns a plan whose code is `paths` of `tree`.
inline plan::ReadablePlan plan_of(const std::shared_ptr<source::MemoryTree>& tree,
                                  const std::vector<std::string>& paths) {
  plan::ReadablePlan plan;
  plan.trees.push_back({.tree = tree});
  for (const auto& path : paths) {
    const auto entry = tree->find(path).value();
    plan.code.push_back({.path = path,
                         .link_target = entry.link_target,
                         .size = entry.size,
                         .type = entry.type,
                         .executable = entry.executable});
  }
  return plan;
}

}  // namespace autopack
