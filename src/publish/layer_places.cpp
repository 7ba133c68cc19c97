#include "publish/layer_places.hpp"

#include <fmt/format.h>

namespace autopack::publish {

namespace {

/// Sending a smaller layer is as fast as mounting it.
constexpr std::uint64_t worth_mounting{1'000'000};

}  // namespace

LayerPlaces::LayerPlaces(const Services& services, const image::Reference& name)
    : services_{services}, host_{name.host}, path_{name.path} {}

std::optional<std::string> LayerPlaces::other_with(const image::Descriptor& layer) const {
  if (layer.size < worth_mounting) {
    return std::nullopt;
  }
  auto path = services_.wheel_records.get(key_of(layer.digest));
  const bool is_other = path && path != path_ && !image::Reference::fault(host_ + "/" + *path);
  return is_other ? std::move(path) : std::nullopt;
}

void LayerPlaces::note(const Digest& layer, std::uint64_t size) const {
  if (size >= worth_mounting) {
    services_.wheel_records.put(key_of(layer), path_);
  }
}

std::string LayerPlaces::key_of(const Digest& layer) const {
  return fmt::format("layer {} {}", host_, layer.hex());
}

}  // namespace autopack::publish
