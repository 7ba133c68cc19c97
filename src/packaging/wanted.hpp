#pragma once

#include "packaging/image_name.hpp"
#include "packaging/request.hpp"
#include "project/inference.hpp"
#include "source/tree.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace autopack::packaging {

/// The project's facts and the files they were found in.
struct ScannedProject {
  std::shared_ptr<const source::Tree> tree{};
  project::Project project{};
  std::optional<source::GitFacts> git{};  ///< only when the request wants them
};

/// What the user wants: an image of a project, under a name.
struct Wanted {
  Request request{};
  ScannedProject scanned{};
  std::vector<project::Inferred> inferred{};  ///< parts of the request that nobody chose
  ImageName name{};
  bool may_push{true};  ///< to the registry of `name`, when it has one

  bool is_pushed() const { return may_push && name.has_registry; }
};

}  // namespace autopack::packaging
