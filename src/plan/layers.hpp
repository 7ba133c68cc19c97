#pragma once

#include "plan/plan.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::plan {

/// One entry of a layer at its place in the image.
struct LayerEntry {
  std::string_view path{};  ///< in the image, without a leading slash; of PlannedLayer::paths
  const ContextEntry* entry{nullptr};  ///< of the Plan; null for a directory that only holds others
};

/// One layer of the code: what travels together.
struct PlannedLayer {
  std::string name{};                          ///< `code`, `code 3 of 4`, `large files 1 of 2`
  std::vector<LayerEntry> entries{};           ///< sorted by path, every parent directory included
  std::uint64_t size{0};                       ///< bytes of its files
  std::shared_ptr<const std::string> paths{};  ///< one block for those of all layers
};

/// The code of `plan` at its places in the image, sorted by path.
struct PlacedCode {
  std::vector<LayerEntry> entries{};
  std::shared_ptr<const std::string> paths{};  ///< one block for all entries
};

/// `made` names files below /usr/app that the installation of the project's package has written, in
/// order: they are in the dependency image, and the code's own are left out.
PlacedCode placed_code(const Plan& plan, const std::vector<std::string>& made = {});

/// The code of `plan` as layers for the direct engine, so that an edit sends little. Files of 1 MB
/// and more are "large files", Python and other source files up to 64 kB are "code", the rest is
/// "data". Each kind is one layer up to a size (64 MB, 500 kB and 4 MB); above, it is dealt to 2,
/// 4, 8 or 16 layers by a hash of the file's path, so that a file stays in its layer whatever
/// happens to the others. Large files come first, code last. `made` as for placed_code.
std::vector<PlannedLayer> code_layers(const Plan& plan, const std::vector<std::string>& made = {});

}  // namespace autopack::plan
