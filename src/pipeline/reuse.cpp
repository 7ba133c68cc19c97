#include "pipeline/reuse.hpp"

#include "engine/direct.hpp"
#include "pipeline/reasons.hpp"

#include <future>

namespace autopack::pipeline {

std::string dependency_tag(const plan::Plan& plan) {
  return "apd-" + plan.dependency_key.substr(0, 16);
}

Found find_in(registry::Repository& repository, const plan::Plan& plan, const ImageName& name) {
  using Answer = std::optional<image::Descriptor>;
  const auto ask = [&](bool wanted, const std::string& tag) {
    return std::async(
        wanted ? std::launch::async : std::launch::deferred,
        [&repository, wanted, tag] { return wanted ? repository.head_manifest(tag) : Answer{}; });
  };
  auto dependencies = ask(!engine::needs_no_dependency_image(plan), dependency_tag(plan));
  auto own = ask(!name.reference.tag.empty(), name.reference.tag);
  Found found{.image = repository.head_manifest(key_tag(plan.image_key))};
  found.dependencies = dependencies.get();
  found.own = own.get();
  return found;
}

std::optional<Image> reuse(registry::Repository& repository,
                           const plan::Plan& plan,
                           const Reasons& reasons,
                           const ImageName& name,
                           const Found& found) {
  if (!found.image) {
    return std::nullopt;
  }
  const auto& digest = found.image->digest;
  const std::string& own = name.reference.tag;
  if (!own.empty() && (!found.own || found.own->digest != digest)) {
    const auto manifest = repository.manifest(digest.str());
    if (!manifest) {
      return std::nullopt;
    }
    repository.put_manifest(*manifest, own);
  }
  return Image{.repository = name.reference.repository(),
               .tag = key_tag(plan.image_key),
               .digest = digest,
               .outcome = reused(reasons),
               .dependencies = reused_dependencies(reasons, plan),
               .engine = "direct"};
}

}  // namespace autopack::pipeline
