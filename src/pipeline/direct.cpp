#include "pipeline/direct.hpp"

#include "base/text.hpp"
#include "engine/direct.hpp"
#include "pipeline/age.hpp"
#include "pipeline/assembly.hpp"
#include "pipeline/image_source.hpp"
#include "pipeline/reasons.hpp"
#include "pipeline/registries.hpp"
#include "pipeline/reuse.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace autopack::pipeline {

namespace {

/// What has to be in the target besides the configuration: all but what its own repository has.
std::vector<const Assembly::Layer*> layers_to_send(const Assembly& assembly,
                                                   const Parent& parent,
                                                   const ImageName& name) {
  const bool same_repository = parent.reference && parent.reference->host == name.reference.host &&
                               parent.reference->path == name.reference.path;
  std::vector<const Assembly::Layer*> layers;
  for (const auto& layer : assembly.layers()) {
    if (!layer.is_parents || !same_repository) {
      layers.push_back(&layer);
    }
  }
  return layers;
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

/// Sends what the target does not have; the results in the order of `layers`. The parent's are
/// taken over from the same registry when it has them.
std::vector<registry::PushedBlob> push_all(Services& services,
                                           registry::Repository& target,
                                           const std::vector<const Assembly::Layer*>& layers,
                                           const std::string& mount_from) {
  std::vector<StepEvent> steps;
  std::vector<registry::Blob> blobs;
  for (const auto* layer : layers) {
    steps.push_back({.id = layer->name,
                     .name = layer->name,
                     .total = layer->blob.known ? layer->blob.known->size : 0});
    blobs.push_back(layer->blob);
    if (layer->is_parents) {
      blobs.back().mount_from = mount_from;
    }
  }
  PushProgress progress{*services.reporter, std::move(steps)};
  auto pushed = registry::push_blobs(
      target, blobs, [&](std::size_t index, std::uint64_t bytes) { progress(index, bytes); });
  progress.end(pushed);
  return pushed;
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
             const Parent& parent,
             const Image& planned) {
  const Assembly assembly{services, plan, parent.image};
  const auto layers = layers_to_send(assembly, parent, name);
  const bool same_registry = parent.reference && parent.reference->host == name.reference.host;
  const auto pushed =
      push_all(services, target, layers, same_registry ? parent.reference->path : "");
  const auto assembled = assembly.finish();
  const auto config = target.push_blob(
      {.known = assembled.manifest.config, .open = registry::source_of(assembled.configuration)},
      [](std::uint64_t) {});
  Image image = planned;
  image.image_id = assembled.manifest.config.digest.str();
  image.digest = put_tags(target, assembled.manifest, image.tag, name.reference.tag).digest;
  image.bytes_uploaded = config.uploaded ? config.size : 0;
  for (std::size_t i = 0; i < pushed.size(); ++i) {
    image.bytes_uploaded += pushed[i].uploaded ? pushed[i].size : 0;
    if (!layers[i]->is_parents) {
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
                              const ImageName& name,
                              const Outcome& why) {
  const std::string tagged = name.reference.with_tag(dependency_tag(plan));
  if (request.engine == Engine::direct) {
    throw Error(ErrorKind::environment,
                fmt::format("there is no dependency image `{}` to put the code on", tagged))
        .cause("it must be " + to_text(why))
        .hint("`--engine=auto` builds it once with the docker engine");
  }
  build_dependencies(services, request, scanned, plan, tagged);
  return push_with_engine(services, name, image::Reference::parse(tagged)).digest;
}

/// What is going to be made, and why.
Image planned_image(const PackageRequest& request,
                    const plan::Plan& plan,
                    const Reasons& reasons,
                    const ImageName& name,
                    const Found& found,
                    const std::string& old) {
  Image image{.repository = name.reference.repository(),
              .tag = key_tag(plan.image_key),
              .outcome = expected_image(request, reasons),
              .engine = "direct"};
  if (found.dependencies) {
    image.dependencies = reused_dependencies(reasons, plan);
  } else if (!engine::needs_no_dependency_image(plan)) {
    image.dependencies = rebuilt_dependencies(
        request, reasons,
        old.empty() ? fmt::format("the registry has no {}", dependency_tag(plan)) : old);
  }
  const bool code_is_as_before = !reasons.first && reasons.changes.code.empty();
  if (code_is_as_before && image.dependencies && !image.dependencies->reused) {
    image.outcome = *image.dependencies;
  } else if (code_is_as_before && !old.empty()) {
    image.outcome = {.reason = old};
  }
  return image;
}

/// Takes out of `found` what is older than the user wants; why, or nothing.
std::string drop_old(Services& services,
                     const AgeLimit& limit,
                     const plan::Plan& plan,
                     registry::Repository& target,
                     Found& found) {
  std::string why;
  for (auto* const part : {&found.dependencies, &found.image}) {
    if (limit.applies() && *part) {
      const auto times = run_times(services, target, (*part)->digest, plan.platform);
      if (limit.is_past(times, part == &found.dependencies, std::time(nullptr))) {
        part->reset();
        why = limit.reason();
      }
    }
  }
  return why;
}

std::string time_text(std::chrono::steady_clock::time_point start) {
  return fmt::format(
      "{:.2f} s", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

std::optional<std::string> obstacle_to_direct(const PackageRequest& request,
                                              const plan::Plan& plan,
                                              bool pushed) {
  if (request.engine == Engine::docker) {
    return "`--engine=docker`";
  }
  if (!pushed && request.outputs.empty()) {
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
                       const ImageName& name,
                       TargetQuestion question) {
  const auto start = std::chrono::steady_clock::now();
  const auto target = question.target;
  Found found = question.found.get();
  const AgeLimit limit{request, scanned, plan};
  const std::string old = drop_old(services, limit, plan, *target, found);
  if (auto image = reuse(*target, plan, reasons, name, found)) {
    services.reporter->done("Reused", fmt::format("{}: {}", image->uri(), image->outcome.reason));
    return *image;
  }
  const Image planned = planned_image(request, plan, reasons, name, found, old);
  tell_planned(services, planned);
  Parent parent;
  if (engine::needs_no_dependency_image(plan)) {
    parent = base_image(services, plan);
  } else {
    parent.reference = name.reference;
    auto anew = request;
    anew.no_cache = request.no_cache || !old.empty();
    parent.reference->digest =
        found.dependencies
            ? found.dependencies->digest
            : build_dependency_image(services, anew, scanned, plan, name, *planned.dependencies);
    parent.image = registry_image(services, target, *parent.reference, plan.platform);
  }
  Image image = append(services, plan, name, *target, parent, planned);
  services.reporter->done("Pushed",
                          fmt::format("{} in {}, {} uploaded", image.uri(), time_text(start),
                                      human_size(image.bytes_uploaded)));
  return image;
}

}  // namespace autopack::pipeline
