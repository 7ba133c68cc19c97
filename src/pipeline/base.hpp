#pragma once

#include "base/background.hpp"
#include "image/facts.hpp"
#include "pipeline/package.hpp"

#include <optional>
#include <string>

namespace autopack::pipeline {

/// The facts of an executor image, in two steps: as it was seen last they are known at once, while
/// its registry is asked what it has now.
class BaseQuestion {
public:
  /// Asks nobody.
  BaseQuestion(Services& services, std::string text, std::string platform, Engine engine);

  /// What is likely; none for an image that was not seen before, or is in files.
  const std::optional<image::BaseFacts>& guess() const { return guess_; }

  /// Asks in the background when the image was seen before and came from a registry.
  void ask();

  /// Waits when it was asked. The facts as its registry (or, for an image without one, the daemon)
  /// has it now: from the cache when the digest is known there, else found by the engine. Without
  /// an engine, with Engine::direct and for an image in files they are read from the image's
  /// layers.
  image::BaseFacts answer();

private:
  Services& services_;
  std::string text_;
  std::string platform_;
  Engine engine_;
  std::optional<image::BaseFacts> guess_{};
  Background<std::optional<Digest>> digest_{};
};

/// The facts of `text`, a reference, as last seen, good for printing a Dockerfile: `recorded` (of a
/// committed Dockerfile) when it is about the same base, else the cache, else the engine.
image::BaseFacts base_as_seen(Services& services,
                              const std::string& text,
                              const std::string& platform,
                              const std::optional<image::BaseFacts>& recorded);

/// The facts as last seen, else assumed: nothing but this machine's files is asked.
image::BaseFacts base_offline(Services& services,
                              const std::string& text,
                              const std::string& platform);

/// The same for a dry run, which pulls nothing and needs no engine: what is not known is assumed as
/// gcloud assumes it, and said.
image::BaseFacts base_or_assumed(Services& services,
                                 const std::string& text,
                                 const std::string& platform);

}  // namespace autopack::pipeline
