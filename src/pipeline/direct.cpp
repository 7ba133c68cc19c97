#include "pipeline/direct.hpp"

#include "base/text.hpp"
#include "engine/direct.hpp"
#include "pipeline/age.hpp"
#include "pipeline/assembly.hpp"
#include "pipeline/image_source.hpp"
#include "pipeline/installation.hpp"
#include "pipeline/reasons.hpp"
#include "pipeline/registries.hpp"
#include "pipeline/reuse.hpp"
#include "pipeline/sending.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace autopack::pipeline {

namespace {

/// Builds the dependency image with the docker engine, and pushes it.
Digest build_dependency_image(Services& services,
                              const PackageRequest& request,
                              const Scanned& scanned,
                              const plan::Plan& plan,
                              const ImageName& name,
                              const Outcome& why) {
  const std::string tagged = name.reference.with_tag(dependency_tag(plan.dependency_key));
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
        old.empty() ? fmt::format("the registry has no {}", dependency_tag(plan.dependency_key))
                    : old);
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

Parent dependency_image(Services& services,
                        const std::shared_ptr<registry::Repository>& target,
                        const plan::Plan& plan,
                        const ImageName& name,
                        const Digest& digest) {
  Parent parent{.reference = name.reference};
  parent.reference->digest = digest;
  parent.image = registry_image(services, target, *parent.reference, plan.platform);
  return parent;
}

std::string time_text(std::chrono::steady_clock::time_point start) {
  return fmt::format(
      "{:.2f} s", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

std::vector<Assembly::Layer> layers_ahead(Services& services,
                                          const plan::Plan& plan,
                                          bool changed) {
  return changed ? Assembly::make_layers(services, plan, last_made(services, plan))
                 : std::vector<Assembly::Layer>{};
}

std::optional<std::string> needs_an_engine(const PackageRequest& request, bool pushed) {
  if (request.engine == Engine::direct && !pushed && request.outputs.empty()) {
    return "the image would stay in the engine, which is never asked then";
  }
  return std::nullopt;
}

std::optional<std::string> obstacle_to_direct(const PackageRequest& request,
                                              const plan::Plan& plan,
                                              bool pushed) {
  if (request.engine == Engine::docker) {
    return "`--engine=docker`";
  }
  if (auto obstacle = needs_an_engine(request, pushed)) {
    return obstacle;
  }
  if (!request.options.templates.empty()) {
    return "`--templates` changes how the image is built";
  }
  if (auto obstacle = engine::direct_obstacle(plan)) {
    return obstacle;
  }
  const bool in_daemon = !pushed && request.outputs.empty();
  if (!in_daemon && engine::needs_no_dependency_image(plan) && !plan.base.digest) {
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
                       TargetQuestion question,
                       std::vector<Assembly::Layer> layers) {
  const auto start = std::chrono::steady_clock::now();
  const auto target = question.target;
  const bool needs_dependencies = !engine::needs_no_dependency_image(plan);
  Parent parent;
  if (!needs_dependencies && !layers.empty()) {
    parent = base_image(services, plan);  // while the target answers
  }
  Found found = question.found.get();
  const AgeLimit limit{request, scanned, plan};
  std::string old = drop_old(services, limit, plan, *target, found);
  const bool is_old = !old.empty();
  if (auto image = reuse(*target, plan, reasons, name, found)) {
    services.reporter->done("Reused", fmt::format("{}: {}", image->uri(), image->outcome.reason));
    return *image;
  }
  if (needs_dependencies && !found.asked_dependencies) {
    found.dependencies = target->head_manifest(dependency_tag(plan.dependency_key));
  }
  const auto guessed = last_made(services, plan);  // which `layers` leave out
  Installation installation;
  if (needs_dependencies && found.dependencies) {
    parent = dependency_image(services, target, plan, name, found.dependencies->digest);
    installation = installation_in(services, plan, parent.image);
    if (installation.outdated) {
      old = *installation.outdated;
      found.dependencies.reset();
    }
  }
  const Image planned = planned_image(request, plan, reasons, name, found, old);
  tell_planned(services, planned);
  if (!needs_dependencies && layers.empty()) {
    parent = base_image(services, plan);
  } else if (needs_dependencies && !found.dependencies) {
    auto anew = request;
    anew.no_cache = request.no_cache || is_old;
    const Digest digest =
        build_dependency_image(services, anew, scanned, plan, name, *planned.dependencies);
    parent = dependency_image(services, target, plan, name, digest);
    installation = installation_in(services, plan, parent.image);
  }
  if (layers.empty() || installation.made != guessed) {
    layers = Assembly::make_layers(services, plan, installation.made);
  }
  Image image = planned;
  send(services, *target, name, Assembly{services, plan, parent.image, std::move(layers)}, parent,
       std::move(found.last), image);
  services.reporter->done("Pushed",
                          fmt::format("{} in {}, {} uploaded", image.uri(), time_text(start),
                                      human_size(image.bytes_uploaded)));
  return image;
}

void refuse_direct(const PackageRequest& request, bool pushed) {
  if (const auto obstacle = needs_an_engine(request, pushed)) {
    throw Error(ErrorKind::usage, "`--engine=direct` cannot make this image")
        .cause(*obstacle)
        .hint("`--engine=auto` loads the code on what the engine has, without a build")
        .hint("`autopack build --output=oci:DIR` needs no engine");
  }
}

}  // namespace autopack::pipeline
