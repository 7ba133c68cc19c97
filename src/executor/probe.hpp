#pragma once

#include "engine/docker.hpp"
#include "image/facts.hpp"

#include <optional>
#include <string>

namespace autopack::executor {

/// The facts of `reference` as `docker` has it: resolved to a digest, pulled when missing, probed
/// without running it. A name that only the daemon knows is taken as it is.
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

  /// `name@sha256:...`; a tag for an image that only the daemon has.
  const std::string& from() const { return from_; }

private:
  engine::Docker& docker_;
  std::string from_;
  bool temporary_{false};
};

}  // namespace autopack::executor
