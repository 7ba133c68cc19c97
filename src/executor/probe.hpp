#pragma once

#include "base/error.hpp"
#include "engine/docker.hpp"
#include "image/facts.hpp"

#include <optional>
#include <string>

namespace autopack::executor {

/// What a name stands for now.
struct DigestNow {
  std::optional<Digest> digest{};  ///< none: the engine's own image, which came from no registry
  /// What a registry answered instead of a digest, where the engine does not know whether its image
  /// came from there.
  std::optional<Error> doubt{};
};

/// Finds out what `reference` stands for. Asks its registry, but not for an image that came from
/// none: as the engine knows, or because its id is `engines_own`. Throws Error(remote) if the
/// registry gives no digest of an image that the engine lacks or has from there.
DigestNow digest_now(engine::Docker& docker,
                     const image::Reference& reference,
                     const std::optional<std::string>& engines_own = std::nullopt);

/// The facts of `reference`, pulled when missing, found without running it. Without a `digest` the
/// engine's own image of that name is taken.
image::BaseFacts probe_image(engine::Docker& docker,
                             const image::Reference& reference,
                             const std::optional<Digest>& digest,
                             const std::string& platform);

/// The same, with the digest that `reference` stands for now.
image::BaseFacts probe_base(engine::Docker& docker,
                            const image::Reference& reference,
                            const std::string& platform);

/// The facts of an image that the daemon has, under the name `local` there.
image::BaseFacts probe_image_facts(engine::Docker& docker,
                                   const std::string& local,
                                   const engine::LocalImage& image,
                                   const std::string& platform);

/// The image of `base` in the engine; none when it is not there as the facts know it.
std::optional<engine::LocalImage> image_in_engine(engine::Docker& docker,
                                                  const image::BaseFacts& base);

/// What stands after FROM so that exactly the image of some base facts is built on. An image in
/// files must have been loaded under image::build_name before.
class BuildBase {
public:
  /// Pulls the image when the daemon does not have it (any more).
  BuildBase(engine::Docker& docker, const image::BaseFacts& facts);
  /// Takes back a name that was made for the build alone.
  ~BuildBase();
  BuildBase(const BuildBase&) = delete;
  BuildBase& operator=(const BuildBase&) = delete;

  /// `name@sha256:...`; a tag for an image that only the daemon has. Of containerd's store both, of
  /// a name that was made for the build.
  const std::string& from() const { return from_; }

private:
  void name_for_build(const std::string& id);

  engine::Docker& docker_;
  std::string from_;
  std::string temporary_{};  ///< the name made for the build; empty: none
};

}  // namespace autopack::executor
