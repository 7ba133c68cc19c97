#include "base/error.hpp"
#include "pipeline/choose_builder.hpp"
#include "pipeline/package.hpp"

namespace autopack::pipeline {

namespace {

/// Returns the key in an image's `label`; nothing for an image that autopack did not make.
std::optional<std::string> key_of(const engine::LocalImage& image, const char* label) {
  constexpr std::size_t shortest{16};
  const auto found = image.labels.find(label);
  return found == image.labels.end() || found->second.size() < shortest
             ? std::nullopt
             : std::optional{found->second};
}

/// Removes what the last run left, unless `now` needs it.
void remove_last(engine::Docker& docker,
                 const image::Reference& name,
                 const engine::LocalImage& last,
                 const std::string& now) {
  if (const auto key = key_of(last, packaging::key_label)) {
    docker.remove_image(name.with_tag(packaging::key_tag(*key)));
  }
  const auto dependencies = key_of(last, packaging::dependency_key_label);
  const auto image = docker.inspect(now);
  if (dependencies && image && key_of(*image, packaging::dependency_key_label) != dependencies) {
    docker.remove_image(name.with_tag(packaging::dependency_tag(*dependencies)));
  }
}

}  // namespace

packaging::Image package_for_running(Services& services, const WantedPtr& wanted) {
  refuse_direct_in_engine(*wanted);
  const auto& name = wanted->name.reference;
  const auto last = image::Reference::parse(name.with_tag(packaging::last_run_tag));
  auto& docker = services.docker();
  const auto before = docker.inspect(last.tagged());
  auto image = package(services, wanted);
  const std::string id = image.image_id.value();
  docker.tag(id, last);
  if (before && before->id != id) {
    try {
      remove_last(docker, name, *before, id);
    } catch (const Error& error) {
      // Another run of the project may remove it concurrently: this run has its image.
      services.reporter->detail(error.message());
    }
  }
  return image;
}

}  // namespace autopack::pipeline
