#pragma once

#include "base/digest.hpp"
#include "image/manifest.hpp"
#include "image/reference.hpp"
#include "services/services.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace autopack::publish {

/// Remembers where this machine sent large layers: a repository of each registry, by digest.
class LayerPlaces {
public:
  /// For the registry of `name`; `services` must outlive it.
  LayerPlaces(const Services& services, const image::Reference& name);

  /// Returns another repository of the registry that had `layer`, to mount it from there, or
  /// nothing. It may have lost the layer since.
  std::optional<std::string> other_with(const image::Descriptor& layer) const;

  /// Records that the repository of `name` now has the layer.
  void note(const Digest& layer, std::uint64_t size) const;

private:
  std::string key_of(const Digest& layer) const;

  const Services& services_;
  std::string host_;
  std::string path_;
};

}  // namespace autopack::publish
