#pragma once

#include "packaging/builder.hpp"
#include "services/services.hpp"

#include <memory>

namespace autopack::build {

/// Base class of builders that leave the image in the docker engine: reuses an existing image, and
/// rebuilds one that is too old.
class EngineBuilder : public packaging::Builder {
public:
  explicit EngineBuilder(Services& services) : services_{services} {}

  packaging::MadeImage make(const packaging::Packaging& work) override;

  /// Builds the image and records it in `image`.
  virtual void make_now(const packaging::Packaging& work,
                        packaging::Freshness freshness,
                        packaging::Image& image) = 0;

protected:
  Services& services() const { return services_; }

private:
  bool take_pushed(const packaging::Packaging& work, packaging::MadeImage& made) const;
  bool is_old(const packaging::Packaging& work, const std::string& id) const;
  bool take_built(const packaging::Packaging& work, packaging::Image& image) const;
  void make_image(const packaging::Packaging& work, packaging::Image& image);

  Services& services_;
};

/// Returns a builder that leaves the image in the docker engine. It reuses an image with the same
/// key, or else builds with the engine's builder.
std::unique_ptr<EngineBuilder> make_docker_builder(Services& services);

/// The same without a build where possible: loads the code on top of the dependency image, and
/// builds only that if it is missing. Falls back to a build if the engine cannot load a part of an
/// image.
std::unique_ptr<EngineBuilder> make_loading_builder(Services& services);

}  // namespace autopack::build
