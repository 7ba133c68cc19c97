#pragma once

#include "base/background.hpp"
#include "image/facts.hpp"
#include "packaging/made_image.hpp"
#include "packaging/request.hpp"
#include "services/services.hpp"

#include <optional>
#include <string>

namespace autopack::executor {

/// The executor image of a request: its cached facts and its current ones.
class ExecutorImage {
public:
  /// Sends no request. Without an executor image (a user's own Dockerfile), only the platform is
  /// known.
  ExecutorImage(Services& services, const packaging::Request& request);

  /// Returns the cached facts; nothing for an image that was not seen before, or is in files.
  const std::optional<image::BaseFacts>& seen() const { return seen_; }

  /// Asks the registry in the background, once, if there are cached facts and a registry.
  void ask();

  /// Returns the current facts in the registry (or, for an image without one, in the engine): those
  /// known of its digest, else found through the engine. Asks the registry unless ask() did.
  /// Without an engine, with Engine::direct, and for an image in files, reads the image's layers.
  image::BaseFacts confirmed();

private:
  Services& services_;
  std::string text_;
  std::string platform_;
  packaging::Engine engine_;
  bool may_use_engine_;
  std::optional<image::BaseFacts> seen_{};
  Background<std::optional<Digest>> digest_{};
  bool is_asked_{false};
};

/// Returns the last known facts of the reference `text`, good enough to print a Dockerfile:
/// `recorded` (in a committed Dockerfile) if it is about the same base, else the cached ones, else
/// the current ones of engine or registry.
image::BaseFacts facts_as_seen(Services& services,
                               const std::string& text,
                               const std::string& platform,
                               const std::optional<image::BaseFacts>& recorded);

/// Returns the last known facts of the executor image of `request`, else assumed ones; reads only
/// this machine's files.
image::BaseFacts facts_offline(Services& services, const packaging::Request& request);

/// Returns the last known facts of the executor image of `request`, else those of the image that
/// the engine has under its name; nothing if there are none. Pulls nothing and needs no engine.
std::optional<image::BaseFacts> facts_at_hand(Services& services,
                                              const packaging::Request& request);

/// The same for a dry run: assumes unknown facts as gcloud does, and reports it.
image::BaseFacts facts_or_assumed(Services& services, const packaging::Request& request);

/// Returns the image of `facts` as a parent for layers, from files or its registry; its digest must
/// be known.
packaging::ParentImage open_image(Services& services,
                                  const image::BaseFacts& facts,
                                  const std::string& platform);

}  // namespace autopack::executor
