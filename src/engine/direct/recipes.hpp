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
  std::string created_by{};  ///< for the history
  std::string key{};         ///< 64 hexadecimal digits: same key, same tar
  std::uint64_t size{0};     ///< bytes of its files
  std::function<void(const std::function<void(std::string_view)>& out)> write_tar{};
};

/// The layers of `plan` above its dependency image, or above the base itself when
/// nothing is installed or removed: then the first makes the directories. `plan` must outlive them.
/// `made` as for plan::placed_code.
std::vector<LayerRecipe> recipes(const plan::ReadablePlan& plan,
                                 std::int64_t file_time,
                                 const std::vector<std::string>& made = {});

/// The parent's manifest and configuration as its registry holds them.
struct Parent {
  image::Manifest manifest{};
  image::Configuration configuration;
};

/// The image: the parent's layers, then `layers`; its configuration as the generated Dockerfile
/// makes it, with `labels`.
packaging::FinishedImage assemble(const Parent& parent,
                                  const plan::Plan& plan,
                                  const std::vector<LayerRecipe>& recipes,
                                  const std::vector<image::LayerFacts>& layers,
                                  const std::map<std::string, std::string>& labels,
                                  std::int64_t file_time);

}  // namespace autopack::engine
