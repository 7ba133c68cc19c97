#pragma once

#include "image/layer.hpp"
#include "image/manifest.hpp"
#include "packaging/lazy_image.hpp"
#include "plan/layers.hpp"
#include "plan/plan.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::build {

/// A layer that can be made at any time, always with the same bytes.
struct LayerRecipe {
  std::string name{};
  std::string created_by{};                          ///< for the history
  std::string key{};                                 ///< 64 hexadecimal digits: same key, same tar
  std::uint64_t size{0};                             ///< bytes of its files
  bool is_packed{false};                             ///< its files are already compressed
  std::map<std::string, std::string> annotations{};  ///< for its descriptor
  /// Writes the compressed bytes to `out`. Facts in `known` need not be computed again.
  using Write = std::function<image::LayerFacts(const image::LayerWriter::Take& out,
                                                const std::optional<image::LayerFacts>& known)>;
  Write write{};
};

/// Returns a writer that compresses the output of `write_tar`.
LayerRecipe::Write compressed(std::function<void(const image::LayerWriter::Take& out)> write_tar);

/// Returns the layer of the directories for the program, writable for every user.
LayerRecipe program_directories(std::int64_t file_time);

/// Returns the layers of `plan` above its dependency image. If nothing is installed or removed,
/// they go on the base itself, and the first one creates the directories. `plan` must outlive them.
/// `made` as for plan::placed_code.
std::vector<LayerRecipe> recipes(const plan::ReadablePlan& plan,
                                 std::int64_t file_time,
                                 const std::vector<std::string>& made = {});

/// The parent's manifest and configuration from its registry.
struct Parent {
  image::Manifest manifest;
  image::Configuration configuration;
};

/// Changes a parent's configuration to that of the image on top of it, except the layers.
using Configure = std::function<void(image::Configuration& configuration)>;

/// Returns the changes of the last stage of the Dockerfile generated for `plan`, with `labels`.
Configure configure_program(const plan::Plan& plan, std::map<std::string, std::string> labels);

/// Returns the image: the parent's layers, then `layers`, made by `recipes`.
packaging::FinishedImage assemble(const Parent& parent,
                                  const std::vector<LayerRecipe>& recipes,
                                  const std::vector<image::LayerFacts>& layers,
                                  std::int64_t file_time,
                                  const Configure& configure);

}  // namespace autopack::build
