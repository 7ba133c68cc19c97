#pragma once

#include "base/error.hpp"
#include "engine/docker.hpp"
#include "image/facts.hpp"

#include <optional>
#include <string>

namespace autopack::executor {

/// The current target of a reference.
struct DigestNow {
  std::optional<Digest> digest{};  ///< absent for the engine's own image, which came from no
                                   ///< registry
  /// The registry's error instead of a digest, if the engine does not know whether its image came
  /// from there.
  std::optional<Error> doubt{};
};

/// Resolves `reference`. Asks its registry, except for an image that came from none, according to
/// the engine or because its id is `engines_own`. Throws Error(remote) if the registry returns no
/// digest of an image that the engine lacks or has from there.
DigestNow digest_now(engine::Docker& docker,
                     const image::Reference& reference,
                     const std::optional<std::string>& engines_own = std::nullopt);

/// Returns the facts of `reference` without running it; pulls the image if it is missing. Without a
/// `digest`, uses the engine's own image of that name.
image::BaseFacts probe_image(engine::Docker& docker,
                             const image::Reference& reference,
                             const std::optional<Digest>& digest,
                             const std::string& platform);

/// The same, with the current digest of `reference`.
image::BaseFacts probe_base(engine::Docker& docker,
                            const image::Reference& reference,
                            const std::string& platform);

/// Returns the facts of an image that the engine has under the name `local`.
image::BaseFacts probe_image_facts(engine::Docker& docker,
                                   const std::string& local,
                                   const engine::LocalImage& image,
                                   const std::string& platform);

/// Returns the image of `base` in the engine; nothing if the engine lacks it or has another one.
std::optional<engine::LocalImage> image_in_engine(engine::Docker& docker,
                                                  const image::BaseFacts& base);

/// A name for FROM that means exactly the image that some facts describe. An image in files must
/// have been loaded under image::build_name before.
class BuildBase {
public:
  /// Pulls the image if the engine does not have it (any more).
  BuildBase(engine::Docker& docker, const image::BaseFacts& facts);
  /// Removes a name that was created only for the build.
  ~BuildBase();
  BuildBase(const BuildBase&) = delete;
  BuildBase& operator=(const BuildBase&) = delete;

  /// Returns `name@sha256:...`, or a tag for an image that only the engine has. For containerd's
  /// store, both, with a name created for the build.
  const std::string& from() const { return from_; }

private:
  void name_for_build(const std::string& id);

  engine::Docker& docker_;
  std::string from_;
  std::string temporary_{};  ///< the name created for the build; empty if none
};

}  // namespace autopack::executor
