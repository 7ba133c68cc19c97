#pragma once

#include "packaging/builder.hpp"
#include "services/services.hpp"

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

}  // namespace autopack::build
