#pragma once

#include "packaging/image_name.hpp"
#include "packaging/request.hpp"
#include "project/program/inference.hpp"
#include "source/tree.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace autopack::packaging {

/// The facts about a project, and the files they come from.
struct ScannedProject {
  std::shared_ptr<const source::Tree> tree{};
  project::Project project{};
  std::optional<source::GitFacts> git{};  ///< only if the request wants them
};

/// What the user wants: an image of a project, under a name.
struct Wanted {
  Request request{};
  ScannedProject scanned{};
  std::vector<project::Inferred> inferred{};  ///< parts of the request that were inferred
  ImageName name{};
  bool may_push{true};  ///< to the registry of `name`, if it has one

  bool is_pushed() const { return may_push && name.has_registry; }
};

}  // namespace autopack::packaging
