#pragma once

#include "base/digest.hpp"
#include "image/manifest.hpp"
#include "image/reference.hpp"
#include "services/services.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace autopack::publish {

/// Where this machine sent large layers: a repository of each registry, by digest.
class LayerPlaces {
public:
  /// Of the registry that `name` is in; `services` must outlive it.
  LayerPlaces(const Services& services, const image::Reference& name);

  /// Another repository of the registry, from which `layer` may be mounted; none when none is
  /// known. It may have lost the layer since.
  std::optional<std::string> other_with(const image::Descriptor& layer) const;

  /// The repository of `name` has the layer now.
  void note(const Digest& layer, std::uint64_t size) const;

private:
  std::string key_of(const Digest& layer) const;

  const Services& services_;
  std::string host_;
  std::string path_;
};

}  // namespace autopack::publish
