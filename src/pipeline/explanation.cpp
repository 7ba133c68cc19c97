#include "pipeline/explanation.hpp"

#include "engine/direct.hpp"
#include "image/layer.hpp"
#include "image/manifest.hpp"
#include "image/tar.hpp"
#include "pipeline/advice.hpp"
#include "pipeline/direct.hpp"
#include "pipeline/installation.hpp"
#include "pipeline/reasons.hpp"

namespace autopack::pipeline {

namespace {

/// A larger layer is not made only to be looked at.
constexpr std::uint64_t made_to_look_at{64'000'000};

/// A registry that does not answer at once is left alone.
registry::RepositoryOptions without_waiting(Services& services) {
  return {.client = &services.client(),
          .credentials = services.credentials,
          .cancellation = services.cancellation,
          .sleep = [](std::chrono::milliseconds) {}};
}

/// The registry of the image, as long as it answers.
class Target {
public:
  Target(Services& services, const ImageName& name, ExpectedUpload& upload) : upload_{upload} {
    if (!name.has_registry) {
      return;
    }
    upload.destination = name.reference.repository();
    repository_ = registry::make_repository(name.reference.host, name.reference.path,
                                            registry::Access::pull, without_waiting(services));
  }

  std::optional<image::Descriptor> manifest(const std::string& tag) {
    const auto found = ask([&] { return repository_->head_manifest(tag); });
    return found ? *found : std::nullopt;
  }

  std::optional<bool> has(const Digest& digest) {
    return ask([&] { return repository_->has_blob(digest); });
  }

private:
  template <class Question>
  auto ask(Question question) -> std::optional<decltype(question())> {
    if (!repository_) {
      return std::nullopt;
    }
    try {
      return question();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) {
        throw;
      }
      upload_.unknown = error.causes().empty() ? error.message() : error.causes().back();
      repository_.reset();
      return std::nullopt;
    }
  }

  ExpectedUpload& upload_;
  std::unique_ptr<registry::Repository> repository_{};
};

std::optional<image::LayerFacts> facts_of(const Services& services,
                                          const engine::LayerRecipe& recipe) {
  if (auto known = services.layer_cache.get(recipe.key)) {
    return known;
  }
  if (recipe.size > made_to_look_at) {
    return std::nullopt;
  }
  image::LayerWriter writer{[](std::string_view) {}};
  recipe.write_tar([&](std::string_view bytes) { writer.write(bytes); });
  auto facts = writer.finish();
  services.layer_cache.put(recipe.key, facts);
  return facts;
}

/// The text of the base's manifest, asked for when it was never seen; none without an answer.
std::optional<std::string> base_manifest(Services& services, const plan::Plan& plan) {
  if (!plan.base.digest) {
    return std::nullopt;
  }
  if (auto known = services.blob_cache.get(*plan.base.digest); known && !image::is_index(*known)) {
    return known;
  }
  try {
    const auto base = image::Reference::parse(plan.base.reference);
    const auto repository = registry::make_repository(base.host, base.path, registry::Access::pull,
                                                      without_waiting(services));
    const auto found = repository->image_manifest(plan.base.digest->str(), plan.platform);
    return found ? std::optional{found->text} : std::nullopt;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) {
      throw;
    }
    services.reporter->detail(error.what());
    return std::nullopt;
  }
}

/// The base's layers as one line, when its manifest was seen before.
void add_base(Services& services,
              const plan::Plan& plan,
              const ImageName& name,
              Target& target,
              Explanation& explanation) {
  ExplainedLayer layer{
      .name = "base " + plan.base.reference, .digest = plan.base.digest, .count = 0};
  const auto text = base_manifest(services, plan);
  const bool all_there =
      explanation.upload.image_is_there || explanation.upload.dependencies_are_there;
  if (all_there || !name.has_registry) {
    layer.upload = false;
  }
  std::uint64_t missing = 0;
  if (text && !image::is_index(*text)) {
    const auto manifest = image::parse_manifest(*text, plan.base.reference);
    layer.count = manifest.layers.size();
    const auto base = image::Reference::parse(plan.base.reference);
    const bool taken_over = base.host == name.reference.host;
    const bool asks = !layer.upload && !taken_over;
    for (const auto& blob : manifest.layers) {
      layer.size += blob.size;
      if (asks && target.has(blob.digest) == false) {
        missing += blob.size;
      }
    }
    if (!layer.upload && explanation.upload.unknown.empty()) {
      layer.upload = missing > 0;
    }
  } else if (!layer.upload) {
    explanation.upload.exact = false;
  }
  explanation.upload.bytes += missing;
  explanation.layers.push_back(std::move(layer));
}

void add_dependencies(const plan::Plan& plan, const ImageName& name, Explanation& explanation) {
  if (engine::needs_no_dependency_image(plan) || !plan.user_dockerfile.empty()) {
    return;
  }
  ExplainedLayer layer{.name = "dependencies apd-" + plan.dependency_key.substr(0, 16)};
  const auto& upload = explanation.upload;
  if (upload.image_is_there || upload.dependencies_are_there || !name.has_registry) {
    layer.upload = false;
  } else if (upload.unknown.empty()) {
    layer.upload = true;
  }
  explanation.upload.exact = explanation.upload.exact && layer.upload == false;
  explanation.layers.push_back(std::move(layer));
}

/// The docker engine makes one layer for each copy, and only a build tells its digest.
void add_copies(const plan::Plan& plan, const ImageName& name, Explanation& explanation) {
  auto& upload = explanation.upload;
  for (const auto& copy : plan.copies) {
    ExplainedLayer layer{.name = copy.source.empty() ? "the whole directory" : copy.source};
    for (const auto& entry : plan.code) {
      const bool is_below = copy.source.empty() || entry.path == copy.source ||
                            entry.path.starts_with(copy.source + "/");
      layer.size += is_below ? entry.size : 0;
    }
    if (upload.image_is_there || !name.has_registry) {
      layer.upload = false;
    } else if (upload.unknown.empty()) {
      layer.upload = true;
    }
    upload.bytes += layer.upload == true ? layer.size : 0;
    upload.exact = upload.exact && layer.upload == false;
    explanation.layers.push_back(std::move(layer));
  }
}

void add_code(Services& services,
              const plan::Plan& plan,
              const ImageName& name,
              Target& target,
              Explanation& explanation) {
  auto& upload = explanation.upload;
  const auto made = last_made(services, plan);
  for (const auto& recipe : engine::recipes(plan, image::file_time(services.environment), made)) {
    ExplainedLayer layer{.name = recipe.name, .size = recipe.size};
    if (const auto facts = facts_of(services, recipe)) {
      layer.digest = facts->digest;
      layer.size = facts->size;
    }
    if (upload.image_is_there || !name.has_registry) {
      layer.upload = false;
    } else if (layer.digest) {
      const auto there = target.has(*layer.digest);
      layer.upload = there ? std::optional{!*there} : std::nullopt;
    } else if (upload.unknown.empty()) {
      layer.upload = true;
    }
    upload.bytes += layer.upload == true ? layer.size : 0;
    upload.exact = upload.exact && layer.digest.has_value();
    explanation.layers.push_back(std::move(layer));
  }
}

/// What git's rules would keep out, as far as it is in the image.
std::vector<Kept> kept_of(const Scanned& scanned, const plan::Plan& plan) {
  std::vector<Kept> kept;
  for (const auto& [path, why] : scanned.project.ignore.kept()) {
    if (plan::entry_in_image(plan, path) != nullptr) {
      kept.push_back({.path = path, .why = why});
    }
  }
  return kept;
}

}  // namespace

Explanation explain(Services& services,
                    const PackageRequest& request,
                    const Scanned& scanned,
                    const plan::Plan& plan,
                    const ImageName& name) {
  AdviceQuestion advice{services, request, scanned, plan};
  Explanation explanation{
      .left_out = find_left_out(scanned, plan), .kept = kept_of(scanned, plan), .engine = "direct"};
  if (const auto obstacle = obstacle_to_direct(request, plan, name.has_registry)) {
    explanation.engine = "docker";
    explanation.engine_why = *obstacle;
  }
  Target target{services, name, explanation.upload};
  explanation.upload.image_is_there = target.manifest(key_tag(plan.image_key)).has_value();
  if (!explanation.upload.image_is_there && !engine::needs_no_dependency_image(plan)) {
    explanation.upload.dependencies_are_there =
        target.manifest("apd-" + plan.dependency_key.substr(0, 16)).has_value();
  }
  add_base(services, plan, name, target, explanation);
  add_dependencies(plan, name, explanation);
  if (explanation.engine == "direct") {
    add_code(services, plan, name, target, explanation);
  } else {
    add_copies(plan, name, explanation);
  }
  const auto why = reasons(last_build(services, request), scanned, plan);
  explanation.image = expected_image(request, why);
  explanation.dependencies = expected_dependencies(request, why, plan);
  if (explanation.upload.image_is_there && !request.no_cache) {
    explanation.image = {.reused = true, .reason = "the registry has it"};
  }
  if (explanation.dependencies && !request.no_cache &&
      (explanation.upload.image_is_there || explanation.upload.dependencies_are_there)) {
    explanation.dependencies = Outcome{.reused = true, .reason = "the registry has them"};
  }
  auto outdated = last_installation(services, plan).outdated;
  if (outdated && explanation.dependencies && !explanation.upload.image_is_there) {
    explanation.dependencies = Outcome{.reason = std::move(*outdated)};
  }
  explanation.advice = advice.answer().warnings;
  return explanation;
}

}  // namespace autopack::pipeline
