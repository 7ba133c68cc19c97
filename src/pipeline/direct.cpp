#include "pipeline/direct.hpp"

#include "base/text.hpp"
#include "engine/build_context.hpp"
#include "engine/direct.hpp"
#include "image/tar.hpp"
#include "pipeline/reasons.hpp"
#include "pipeline/reuse.hpp"

#include <fmt/format.h>

#include <chrono>

namespace autopack::pipeline {

namespace {

/// Where the layers below the code are.
struct ParentSource {
  image::Reference reference{};  ///< by digest
  registry::Repository* repository{nullptr};
};

/// A layer of this size is made in memory: its digest is known before anything is sent.
constexpr std::uint64_t in_memory{16'000'000};

/// One layer on its way: its facts are known from the cache, from making it, or after sending it.
struct Outgoing {
  const engine::LayerRecipe* recipe{nullptr};
  std::shared_ptr<std::optional<image::LayerFacts>> facts{
      std::make_shared<std::optional<image::LayerFacts>>()};
  bool from_cache{false};
  registry::Blob blob{};
};

/// Compresses the layer while it is read, and keeps its facts.
registry::BlobSource streamed(const engine::LayerRecipe& recipe,
                              std::shared_ptr<std::optional<image::LayerFacts>> facts) {
  return [&recipe, facts = std::move(facts)] {
    auto pipe = std::make_shared<engine::BytePipe>(
        [&recipe, facts](const std::function<void(std::string_view)>& out) {
          image::LayerWriter writer{out};
          recipe.write_tar([&](std::string_view bytes) { writer.write(bytes); });
          *facts = writer.finish();
        });
    return [pipe](char* buffer, std::size_t size) { return pipe->read(buffer, size); };
  };
}

image::Descriptor descriptor_of(const image::LayerFacts& facts) {
  return {.digest = facts.digest, .size = facts.size};
}

Outgoing prepare(const engine::LayerRecipe& recipe, const state::LayerCache& cache) {
  Outgoing layer{.recipe = &recipe};
  if (const auto known = cache.get(recipe.key)) {
    *layer.facts = known;
    layer.from_cache = true;
    layer.blob = {.known = descriptor_of(*known), .open = streamed(recipe, layer.facts)};
  } else if (recipe.size <= in_memory) {
    std::string bytes;
    image::LayerWriter writer{[&](std::string_view piece) { bytes += piece; }};
    recipe.write_tar([&](std::string_view piece) { writer.write(piece); });
    *layer.facts = writer.finish();
    layer.blob = {.known = descriptor_of(**layer.facts),
                  .open = registry::source_of(std::move(bytes))};
  } else {
    layer.blob = {.open = streamed(recipe, layer.facts)};
  }
  return layer;
}

/// The manifest of `source`, from the cache when it is named by digest.
std::string manifest_text(Services& services,
                          const ParentSource& source,
                          const std::string& platform) {
  const auto& reference = source.reference;
  if (reference.digest) {
    if (auto text = services.blob_cache.get(*reference.digest); text && !image::is_index(*text)) {
      return *text;
    }
  }
  const auto found = source.repository->image_manifest(
      reference.digest ? reference.digest->str() : reference.tag, platform);
  if (!found) {
    throw Error(ErrorKind::remote, fmt::format("the registry has no `{}`", reference.text));
  }
  services.blob_cache.put(found->text);
  return found->text;
}

engine::Parent read_parent(Services& services,
                           const ParentSource& source,
                           const std::string& platform) {
  const std::string& name = source.reference.text;
  const image::Manifest manifest = image::parse_manifest(manifest_text(services, source, platform),
                                                         fmt::format("the manifest of `{}`", name));
  auto text = services.blob_cache.get(manifest.config.digest);
  if (!text) {
    text = source.repository->read_blob(manifest.config);
    services.blob_cache.put(*text);
  }
  return {.manifest = manifest,
          .configuration =
              image::Configuration::parse(*text, fmt::format("the configuration of `{}`", name))};
}

/// The parent's layers, which the target has, takes over from the same registry, or is sent.
std::vector<registry::Blob> parent_blobs(const engine::Parent& parent,
                                         const ParentSource& source,
                                         const ImageName& name) {
  std::vector<registry::Blob> blobs;
  const bool same_registry = source.reference.host == name.reference.host;
  if (same_registry && source.reference.path == name.reference.path) {
    return blobs;
  }
  for (const auto& layer : parent.manifest.layers) {
    blobs.push_back({.known = layer,
                     .open = registry::blob_source(*source.repository, layer),
                     .mount_from = same_registry ? source.reference.path : ""});
  }
  return blobs;
}

class PushProgress {
public:
  PushProgress(Reporter& reporter, std::vector<StepEvent> steps)
      : reporter_{reporter}, steps_{std::move(steps)} {}

  void operator()(std::size_t index, std::uint64_t bytes) {
    StepEvent& step = steps_.at(index);
    step.state =
        step.current == 0 && bytes == 0 ? StepEvent::State::started : StepEvent::State::progress;
    step.current = bytes;
    reporter_.step(step);
  }

  void end(const std::vector<registry::PushedBlob>& pushed) {
    for (std::size_t i = 0; i < pushed.size(); ++i) {
      steps_.at(i).state =
          pushed[i].uploaded ? StepEvent::State::completed : StepEvent::State::cached;
      reporter_.step(steps_.at(i));
    }
  }

private:
  Reporter& reporter_;
  std::vector<StepEvent> steps_;
};

StepEvent step_of(const std::string& name, const registry::Blob& blob) {
  const std::uint64_t size = blob.known ? blob.known->size : 0;
  return {.id = name, .name = name, .total = size};
}

/// Sends what the target does not have; the results in the order of `parents`, then `layers`.
std::vector<registry::PushedBlob> push_all(Services& services,
                                           registry::Repository& target,
                                           std::vector<registry::Blob> parents,
                                           const std::vector<Outgoing>& layers) {
  std::vector<StepEvent> steps;
  steps.reserve(parents.size() + layers.size());
  for (const auto& blob : parents) {
    steps.push_back(step_of("layer " + blob.known->digest.hex().substr(0, 12), blob));
  }
  for (const auto& layer : layers) {
    parents.push_back(layer.blob);
    steps.push_back(step_of(layer.recipe->name, layer.blob));
  }
  PushProgress progress{*services.reporter, std::move(steps)};
  auto pushed = registry::push_blobs(
      target, parents, [&](std::size_t index, std::uint64_t bytes) { progress(index, bytes); });
  progress.end(pushed);
  return pushed;
}

std::vector<image::LayerFacts> facts_of(const std::vector<Outgoing>& layers,
                                        const state::LayerCache& cache) {
  std::vector<image::LayerFacts> facts;
  for (const auto& layer : layers) {
    facts.push_back(layer.facts->value());
    if (!layer.from_cache) {
      cache.put(layer.recipe->key, facts.back());
    }
  }
  return facts;
}

/// The user's own tag moves last, when everything it names is there.
registry::StoredManifest put_tags(registry::Repository& target,
                                  const image::Manifest& manifest,
                                  const std::string& key,
                                  const std::string& own) {
  std::string text = image::to_json(manifest);
  const Digest digest = sha256(text);
  registry::StoredManifest stored{
      .media_type = manifest.media_type, .text = std::move(text), .digest = digest};
  target.put_manifest(stored, key);
  if (!own.empty() && own != key) {
    target.put_manifest(stored, own);
  }
  return stored;
}

Image append(Services& services,
             const plan::Plan& plan,
             const ImageName& name,
             registry::Repository& target,
             const ParentSource& source,
             const Image& planned) {
  const std::int64_t time = image::file_time(services.environment);
  const auto recipes = engine::recipes(plan, time);
  std::vector<Outgoing> layers;
  layers.reserve(recipes.size());
  for (const auto& recipe : recipes) {
    layers.push_back(prepare(recipe, services.layer_cache));
  }
  const engine::Parent parent = read_parent(services, source, plan.platform);
  auto parents = parent_blobs(parent, source, name);
  const std::size_t first = parents.size();
  auto pushed = push_all(services, target, std::move(parents), layers);
  const auto assembled = engine::assemble(
      parent, plan, recipes, facts_of(layers, services.layer_cache), labels_of(plan), time);
  pushed.push_back(target.push_blob(
      {.known = assembled.manifest.config, .open = registry::source_of(assembled.configuration)},
      [](std::uint64_t) {}));
  Image image = planned;
  image.image_id = assembled.manifest.config.digest.str();
  image.digest = put_tags(target, assembled.manifest, image.tag, name.reference.tag).digest;
  for (std::size_t i = 0; i < pushed.size(); ++i) {
    image.bytes_uploaded += pushed[i].uploaded ? pushed[i].size : 0;
    if (i >= first && i + 1 < pushed.size()) {
      image.layers.push_back(
          {.id = pushed[i].digest.str(), .size = pushed[i].size, .uploaded = pushed[i].uploaded});
    }
  }
  return image;
}

/// Builds the dependency image with the docker engine, and pushes it.
Digest build_dependency_image(Services& services,
                              const PackageRequest& request,
                              const Scanned& scanned,
                              const plan::Plan& plan,
                              const ImageName& name) {
  const std::string tagged = name.reference.with_tag(dependency_tag(plan));
  if (request.engine == Engine::direct) {
    throw Error(ErrorKind::environment,
                fmt::format("the registry has no dependency image `{}` for this project", tagged))
        .hint("`--engine=auto` builds it once with the docker engine");
  }
  build_dependencies(services, request, scanned, plan, tagged);
  return services.docker().push(image::Reference::parse(tagged)).digest;
}

/// What is going to be made, and why.
Image planned_image(const PackageRequest& request,
                    const plan::Plan& plan,
                    const Reasons& reasons,
                    const ImageName& name,
                    const Found& found) {
  Image image{.repository = name.reference.repository(),
              .tag = key_tag(plan.image_key),
              .outcome = expected_image(request, reasons),
              .engine = "direct"};
  if (found.dependencies) {
    image.dependencies = reused_dependencies(reasons, plan);
  } else if (!engine::needs_no_dependency_image(plan)) {
    image.dependencies = rebuilt_dependencies(
        request, reasons, fmt::format("the registry has no {}", dependency_tag(plan)));
  }
  return image;
}

std::string time_text(std::chrono::steady_clock::time_point start) {
  return fmt::format(
      "{:.2f} s", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

std::unique_ptr<registry::Repository> open_repository(Services& services,
                                                      const image::Reference& reference,
                                                      registry::Access access) {
  return registry::make_repository(reference.host, reference.path, access,
                                   {.client = &services.client(),
                                    .credentials = services.credentials,
                                    .cancellation = services.cancellation});
}

std::optional<std::string> obstacle_to_direct(const PackageRequest& request,
                                              const plan::Plan& plan,
                                              bool pushed) {
  if (request.engine == Engine::docker) {
    return "`--engine=docker`";
  }
  if (!pushed) {
    return "the image is not pushed to a registry";
  }
  if (!request.options.templates.empty()) {
    return "`--templates` changes how the image is built";
  }
  if (auto obstacle = engine::direct_obstacle(plan)) {
    return obstacle;
  }
  if (engine::needs_no_dependency_image(plan) && !plan.base.digest) {
    return fmt::format("only the docker engine has the executor image `{}`", plan.base.reference);
  }
  return std::nullopt;
}

Image package_directly(Services& services,
                       const PackageRequest& request,
                       const Scanned& scanned,
                       const plan::Plan& plan,
                       const Reasons& reasons,
                       const ImageName& name) {
  const auto start = std::chrono::steady_clock::now();
  const auto target = open_repository(services, name.reference, registry::Access::push);
  const Found found = request.no_cache ? Found{} : find_in(*target, plan, name);
  if (auto image = reuse(*target, plan, reasons, name, found)) {
    services.reporter->done("Reused", fmt::format("{}: {}", image->uri(), image->outcome.reason));
    return *image;
  }
  const Image planned = planned_image(request, plan, reasons, name, found);
  tell_planned(services, planned);
  ParentSource source{.reference = name.reference, .repository = target.get()};
  std::unique_ptr<registry::Repository> base;
  if (engine::needs_no_dependency_image(plan)) {
    source.reference = image::Reference::parse(plan.base.reference);
    source.reference.digest = plan.base.digest;
    base = open_repository(services, source.reference, registry::Access::pull);
    source.repository = base.get();
  } else {
    source.reference.digest = found.dependencies
                                  ? found.dependencies->digest
                                  : build_dependency_image(services, request, scanned, plan, name);
  }
  Image image = append(services, plan, name, *target, source, planned);
  services.reporter->done("Pushed",
                          fmt::format("{} in {}, {} uploaded", image.uri(), time_text(start),
                                      human_size(image.bytes_uploaded)));
  return image;
}

}  // namespace autopack::pipeline
