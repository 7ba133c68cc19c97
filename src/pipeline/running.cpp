#include "pipeline/direct.hpp"
#include "pipeline/package.hpp"
#include "pipeline/reuse.hpp"

namespace autopack::pipeline {

Image package_for_running(Services& services,
                          const PackageRequest& request,
                          const Scanned& scanned,
                          const ImageName& name) {
  refuse_direct(request, false);
  const auto last = image::Reference::parse(name.reference.with_tag(last_run_tag));
  auto& docker = services.docker();
  const auto before = docker.inspect(last.tagged());
  Image image = package(services, request, scanned, name, Push::no);
  docker.tag(image.image_id, last);
  if (!before || before->id == image.image_id) {
    return image;
  }
  const auto key_of = [](const engine::LocalImage& held, const char* label) {
    const auto found = held.labels.find(label);
    return found == held.labels.end() || found->second.size() < 16 ? "" : found->second;
  };
  if (const auto key = key_of(*before, "autopack.key"); !key.empty()) {
    docker.remove_image(name.reference.with_tag(key_tag(key)));
  }
  const auto dependencies = key_of(*before, "autopack.dependency-key");
  const auto now = docker.inspect(image.image_id);
  if (!dependencies.empty() && now && key_of(*now, "autopack.dependency-key") != dependencies) {
    docker.remove_image(name.reference.with_tag(dependency_tag(dependencies)));
  }
  return image;
}

}  // namespace autopack::pipeline
