#include "pipeline/reuse.hpp"

#include "engine/direct.hpp"
#include "pipeline/reasons.hpp"
#include "pipeline/registries.hpp"

namespace autopack::pipeline {

namespace {

using Answer = std::optional<image::Descriptor>;

/// Each tag in a thread of its own but the first; an empty one is not asked for.
Found find_in(registry::Repository& repository,
              const std::string& key,
              const std::string& dependencies,
              const std::string& own) {
  const auto ask = [&](const std::string& tag) {
    const auto how = tag.empty() ? std::launch::deferred : std::launch::async;
    return std::async(
        how, [&repository, tag] { return tag.empty() ? Answer{} : repository.head_manifest(tag); });
  };
  auto dependency_answer = ask(dependencies);
  auto own_answer = ask(own);
  Found found{.image = repository.head_manifest(key)};
  found.dependencies = dependency_answer.get();
  found.own = own_answer.get();
  return found;
}

}  // namespace

std::string dependency_tag(const plan::Plan& plan) {
  return "apd-" + plan.dependency_key.substr(0, 16);
}

TargetQuestion ask_target(Services& services,
                          const PackageRequest& request,
                          const plan::Plan& plan,
                          const ImageName& name) {
  const std::shared_ptr<registry::Repository> target = open_target(services, name);
  if (request.no_cache) {
    std::promise<Found> nothing;
    nothing.set_value({});
    return {target, nothing.get_future()};
  }
  const std::string dependencies =
      engine::needs_no_dependency_image(plan) ? "" : dependency_tag(plan);
  return {target, std::async(std::launch::async, [target, key = key_tag(plan.image_key),
                                                  dependencies, own = name.reference.tag] {
            return find_in(*target, key, dependencies, own);
          })};
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
