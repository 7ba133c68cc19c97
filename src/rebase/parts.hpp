#pragma once

#include "base/digest.hpp"
#include "image/reference.hpp"
#include "image/source.hpp"
#include "rebase/fitness.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::rebase {

/// An image that was found by its name.
struct Opened {
  image::Source source;
  std::string text{};                           ///< as the user typed it
  std::optional<image::Reference> reference{};  ///< with its digest; absent for an image in files
};

/// Opens `text`, an image in files or in a registry, for `platform`. Throws Error(usage) if it is
/// not the name of an image, Error(remote) if its registry has no such image, and what open_files()
/// throws.
Opened open(Services& services, const std::string& text, const std::string& platform);

/// Returns the platforms of the index that `reference` names in its registry; empty if it names a
/// single image.
std::vector<std::string> platforms_of(Services& services, const image::Reference& reference);

/// The base that an image says it was built on.
struct RecordedBase {
  std::optional<std::string> name{};  ///< absent for a base in files
  Digest digest;
};

/// Throws Error(project) if the labels of `image` do not name its base by digest.
RecordedBase recorded_base(const image::Source& image);

/// Returns the base and its Python, from the cache, else from its layers.
BaseSide survey(Services& services, const Opened& base, const std::string& platform);

/// True if both have the same configuration and layers.
bool is_same_image(const image::Source& one, const image::Source& other);

/// Returns the reasons why the layers of `image` above `before` cannot be moved, whatever the new
/// base is; empty if they can. Reads no layer.
std::vector<std::string> unmovable(const image::Source& image, const image::Source& before);

/// Returns what the own layers of `image` contain, by their marks.
OwnPackages own_packages(const image::Source& image, const image::Source& before);

/// Returns `image` on `after` instead of `before`, with `labels` as in
/// image::rebased_configuration. Reads no layer.
image::Source rebased(const image::Source& image,
                      const image::Source& before,
                      const image::Source& after,
                      const std::map<std::string, std::string>& labels);

/// Sends `image` to the repository of `target`, which gets the manifest without a tag, and then
/// under the tag of `target`, if it has one. Layers come from the repositories of `image_place` and
/// `base_place` in the same registry without being read. Returns the number of uploaded bytes.
std::uint64_t send(Services& services,
                   const image::Source& image,
                   const image::Reference& target,
                   const std::optional<image::Reference>& image_place,
                   const std::optional<image::Reference>& base_place,
                   std::size_t base_layers);

}  // namespace autopack::rebase
