#pragma once

#include "base/background.hpp"
#include "image/facts.hpp"
#include "packaging/made_image.hpp"
#include "packaging/request.hpp"
#include "services/services.hpp"

#include <optional>
#include <string>

namespace autopack::executor {

/// The executor image of a request, as it was seen last and as it is now.
class ExecutorImage {
public:
  /// Asks nobody. A request without an executor image (a user's own Dockerfile) has nothing to
  /// tell of one but the platform.
  ExecutorImage(Services& services, const packaging::Request& request);

  /// What is likely, from the cache; none for an image that was not seen before, or is in files.
  const std::optional<image::BaseFacts>& seen() const { return seen_; }

  /// Asks its registry in the background when it was seen before and has one; once.
  void ask();

  /// The facts as its registry (or, for an image without one, the daemon) has it now: from the
  /// cache when the digest is known there, else found by the engine. Asks where ask() did not.
  /// Without an engine, with Engine::direct and for an image in files they are read from the
  /// image's layers.
  image::BaseFacts confirmed();

private:
  Services& services_;
  std::string text_;
  std::string platform_;
  packaging::Engine engine_;
  std::optional<image::BaseFacts> seen_{};
  Background<std::optional<Digest>> digest_{};
  bool is_asked_{false};
};

/// The facts of `text`, a reference, as last seen, good for printing a Dockerfile: `recorded` (of a
/// committed Dockerfile) when it is about the same base, else the cache, else the engine.
image::BaseFacts facts_as_seen(Services& services,
                               const std::string& text,
                               const std::string& platform,
                               const std::optional<image::BaseFacts>& recorded);

/// The facts of the executor image of `request` as last seen, else assumed: nothing but this
/// machine's files is asked.
image::BaseFacts facts_offline(Services& services, const packaging::Request& request);

/// The same for a dry run, which pulls nothing and needs no engine: what is not known is assumed as
/// gcloud assumes it, and said.
image::BaseFacts facts_or_assumed(Services& services, const packaging::Request& request);

/// The image of `facts` as one to put layers on, from files or its registry; its digest must be
/// known.
packaging::ParentImage open_image(Services& services,
                                  const image::BaseFacts& facts,
                                  const std::string& platform);

}  // namespace autopack::executor
