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

namespace autopack::engine {

/// A layer that can be made at any time, always with the same bytes.
struct LayerRecipe {
  std::string name{};
  std::string created_by{};                          ///< for the history
  std::string key{};                                 ///< 64 hexadecimal digits: same key, same tar
  std::uint64_t size{0};                             ///< bytes of its files
  bool is_packed{false};                             ///< its files are compressed already
  std::map<std::string, std::string> annotations{};  ///< of its descriptor
  /// Gives the compressed bytes to `out`. What is `known` of them need not be found again.
  using Write = std::function<image::LayerFacts(const image::LayerWriter::Take& out,
                                                const std::optional<image::LayerFacts>& known)>;
  Write write{};
};

/// What `write_tar` writes, compressed.
LayerRecipe::Write compressed(std::function<void(const image::LayerWriter::Take& out)> write_tar);

/// The directories that the program finds, open to every user.
LayerRecipe program_directories(std::int64_t file_time);

/// The layers of `plan` above its dependency image, or above the base itself when
/// nothing is installed or removed: then the first makes the directories. `plan` must outlive them.
/// `made` as for plan::placed_code.
std::vector<LayerRecipe> recipes(const plan::ReadablePlan& plan,
                                 std::int64_t file_time,
                                 const std::vector<std::string>& made = {});

/// The parent's manifest and configuration as its registry holds them.
struct Parent {
  image::Manifest manifest;
  image::Configuration configuration;
};

/// Changes the configuration of a parent to that of the image on top of it, but for the layers.
using Configure = std::function<void(image::Configuration& configuration)>;

/// As the last stage of the Dockerfile that is generated for `plan`, with `labels`.
Configure configure_program(const plan::Plan& plan, std::map<std::string, std::string> labels);

/// The image: the parent's layers, then `layers`, made by `recipes`.
packaging::FinishedImage assemble(const Parent& parent,
                                  const std::vector<LayerRecipe>& recipes,
                                  const std::vector<image::LayerFacts>& layers,
                                  std::int64_t file_time,
                                  const Configure& configure);

}  // namespace autopack::engine
