#include "pipeline/rebuild.hpp"

#include "build/direct/assembly.hpp"
#include "build/direct/installation.hpp"
#include "pipeline/choose_builder.hpp"

namespace autopack::pipeline {

Rebuild::Rebuild(Services& services, const WantedPtr& wanted, const image::BaseFacts& executor)
    : services_{services},
      work_{plan_packaging(services, wanted, executor)},
      scratch_{std::make_unique<ScratchDirectory>("verify")} {
  // A layer that is only known by its facts would not be made from its files.
  services_.layer_cache = state::LayerCache{scratch_->path() / "layers"};
  services_.repository_facts.reset();
  // Later builds trust these records, and an image may say which versions are made again.
  services_.wheel_records = services_.wheel_records.changed_in(scratch_->path() / "wheel-records");
  services_.install_records =
      services_.install_records.changed_in(scratch_->path() / "installations");
}

std::optional<image::Source> Rebuild::make(std::string& obstacle) {
  auto below = find_image_below(services_, work_, obstacle);
  if (!below) {
    return std::nullopt;
  }
  const auto& plan = work_.plan();
  image_ = build::put_together(
      services_, work_, std::move(below->image),
      build::make_code_layers(services_, plan, build::last_made(services_, plan)));
  return packaging::source_of(*image_);
}

}  // namespace autopack::pipeline
