#pragma once

#include "plan/plan.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::plan {

/// An entry of a layer at its place in the image.
struct LayerEntry {
  std::string_view path{};  ///< in the image, without a leading slash; in PlannedLayer::paths
  const ContextEntry* entry{nullptr};  ///< of the Plan; null for a directory that only contains
                                       ///< others
};

/// A layer of the code: files that are sent together.
struct PlannedLayer {
  std::string name{};                          ///< `code`, `code 3 of 4`, `large files 1 of 2`
  std::vector<LayerEntry> entries{};           ///< sorted by path, including every parent directory
  std::uint64_t size{0};                       ///< bytes of its files
  std::shared_ptr<const std::string> paths{};  ///< shared by all layers
};

/// Returns the code of `plan` at its places in the image, sorted by path.
struct PlacedCode {
  std::vector<LayerEntry> entries{};
  std::shared_ptr<const std::string> paths{};  ///< one block for all entries
};

/// `made` are files below /usr/app that the installation of the project's package has written,
/// sorted: they are in the dependency image, and those of the code are omitted.
PlacedCode placed_code(const Plan& plan, const std::vector<std::string>& made = {});

/// Returns true if the image's user is not root, so that every user may write to the project's
/// directories, as to the working directory.
bool has_open_directories(const Plan& plan);

/// Returns the code of `plan` as layers for the direct engine, such that an edit sends little.
/// Files of 1 MB and more are "large files", Python and other source files up to 64 kB are "code",
/// the rest is "data". Each kind is one layer up to a size (64 MB, 500 kB and 4 MB). Above, it is
/// distributed over 2, 4, 8 or 16 layers by a hash of the file's path, so that a file stays in its
/// layer whatever happens to the others. Large files come first, code last. `made` as for
/// placed_code.
std::vector<PlannedLayer> code_layers(const Plan& plan, const std::vector<std::string>& made = {});

}  // namespace autopack::plan
