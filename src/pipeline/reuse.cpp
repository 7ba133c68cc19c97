#include "pipeline/reuse.hpp"

#include "engine/direct.hpp"
#include "pipeline/reasons.hpp"
#include "pipeline/registries.hpp"

#include <future>

namespace autopack::pipeline {

namespace {

/// A layer and the configuration.
constexpr std::size_t blobs_of_an_edit{2};

using Answer = std::optional<image::Descriptor>;

struct Question {
  std::string key{};
  std::string dependencies{};
  std::string own{};
  std::optional<registry::StoredManifest> last{};  ///< what was pushed there last
};

/// Each name in a thread of its own but the first; an empty one is not asked for.
Found find_in(const std::shared_ptr<registry::Repository>& repository, const Question& question) {
  if (question.last) {
    // Something changed since, so that the key is hardly ever there.
    repository->begin_uploads(blobs_of_an_edit);
  }
  const auto ask = [&](const std::string& reference) {
    return reference.empty() ? Background<Answer>{} : in_background([repository, reference] {
      return repository->head_manifest(reference);
    });
  };
  const auto answer = [](Background<Answer> asked) {
    return asked.valid() ? asked.get() : Answer{};
  };
  auto dependencies = ask(question.dependencies);
  auto own = ask(question.own);
  std::optional<LastPushed> last;
  if (question.last) {
    last = LastPushed{
        .manifest = image::parse_manifest(question.last->text, "the manifest pushed last"),
        .digest = question.last->digest};
  }
  Found found{.image = repository->head_manifest(question.key),
              .asked_own = !question.own.empty(),
              .last = std::move(last)};
  found.dependencies = answer(std::move(dependencies));
  found.own = answer(std::move(own));
  return found;
}

std::optional<registry::StoredManifest> last_pushed(const Services& services,
                                                    const ImageName& name) {
  const auto digest = services.pushed_images.get(name.reference.repository());
  auto text = digest ? services.blob_cache.get(*digest) : std::nullopt;
  if (!text) {
    return std::nullopt;
  }
  return registry::StoredManifest{.text = std::move(*text), .digest = *digest};
}

}  // namespace

std::string dependency_tag(const std::string& dependency_key) {
  return "apd-" + dependency_key.substr(0, 16);
}

TargetQuestion ask_target(Services& services,
                          const PackageRequest& request,
                          const plan::Plan& plan,
                          bool changed,
                          const ImageName& name) {
  const std::shared_ptr<registry::Repository> target = open_target(services, name);
  if (request.no_cache) {
    std::promise<Found> nothing;
    nothing.set_value({});
    return {target, Background<Found>{nothing.get_future()}};
  }
  const bool asks_dependencies = changed || request.max_dependency_age;
  Question question{.key = key_tag(plan.image_key),
                    .dependencies = engine::needs_no_dependency_image(plan) || !asks_dependencies
                                        ? ""
                                        : dependency_tag(plan.dependency_key),
                    .own = changed ? "" : name.reference.tag,
                    .last = changed ? last_pushed(services, name) : std::nullopt};
  return {target, in_background([target, question = std::move(question), asks_dependencies] {
            Found found = find_in(target, question);
            found.asked_dependencies = asks_dependencies;
            return found;
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
  const auto tagged = found.asked_own || own.empty() ? found.own : repository.head_manifest(own);
  if (!own.empty() && (!tagged || tagged->digest != digest)) {
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
