#include "pipeline/loading.hpp"

#include "engine/build_context.hpp"
#include "engine/direct.hpp"
#include "image/file_output.hpp"
#include "pipeline/assembly.hpp"
#include "pipeline/files.hpp"
#include "pipeline/installation.hpp"
#include "pipeline/reuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace autopack::pipeline {

namespace {

bool is_usable(engine::Docker& docker,
               const engine::LocalImage& local,
               const plan::Plan& plan,
               const AgeLimit& limit) {
  const auto key = local.labels.find("autopack.dependency-key");
  return key != local.labels.end() && key->second == plan.dependency_key &&
         !(limit.applies() && limit.is_past(docker.run_times(local.id), true, std::time(nullptr)));
}

/// The image below the code, as the engine has it; `made` is what it holds of the project's files.
std::optional<image::Source> parent_in_engine(Services& services,
                                              const PackageRequest& request,
                                              const Scanned& scanned,
                                              const plan::Plan& plan,
                                              const AgeLimit& limit,
                                              const ImageName& name,
                                              std::vector<std::string>& made) {
  auto& docker = services.docker();
  load_base(services, plan);
  const engine::BuildBase base{docker, plan.base};
  auto parent = docker.held(base.from());
  if (!parent || engine::needs_no_dependency_image(plan)) {
    return parent;
  }
  auto dependencies = dependencies_in_engine(services, request, scanned, plan, limit, name);
  made = std::move(dependencies.made);
  return docker.held(dependencies.id);
}

}  // namespace

DependencyImage dependencies_in_engine(Services& services,
                                       const PackageRequest& request,
                                       const Scanned& scanned,
                                       const plan::Plan& plan,
                                       const AgeLimit& limit,
                                       const ImageName& name) {
  auto& docker = services.docker();
  const std::string tagged = name.reference.with_tag(dependency_tag(plan.dependency_key));
  const auto local = docker.inspect(tagged);
  const bool usable = local && !request.no_cache && is_usable(docker, *local, plan, limit);
  if (usable) {
    auto installation = installation_in_engine(services, plan, local->id);
    if (!installation.outdated) {
      return {.id = local->id, .made = std::move(installation.made)};
    }
  }
  auto how = request;
  how.no_cache = request.no_cache || (local && !usable);
  const std::string id = build_dependencies(services, how, scanned, plan, tagged);
  return {.id = id, .made = installation_in_engine(services, plan, id).made};
}

std::size_t layers_there(engine::Docker& docker,
                         const image::Source& image,
                         const std::vector<std::string>& candidates) {
  const auto diff_ids =
      image::Configuration::parse(image.configuration, "the configuration of the image").diff_ids();
  std::size_t most = 0;
  for (const auto& candidate : candidates) {
    if (const auto local = docker.inspect(candidate)) {
      const auto& layers = local->layers;
      const auto [mine, theirs] =
          std::mismatch(diff_ids.begin(), diff_ids.end(), layers.begin(), layers.end(),
                        [](const Digest& a, const std::string& b) { return a.str() == b; });
      most = std::max(most, static_cast<std::size_t>(mine - diff_ids.begin()));
    }
  }
  return most;
}

void load(engine::Docker& docker,
          const image::Source& image,
          const std::vector<std::string>& names,
          std::size_t left_out) {
  engine::BytePipe pipe{[&](const std::function<void(std::string_view)>& out) {
    image::write_archive(image, names, left_out, out);
  }};
  docker.load([&](char* buffer, std::size_t size) { return pipe.read(buffer, size); });
}

std::optional<Loaded> load_code(Services& services,
                                const PackageRequest& request,
                                const Scanned& scanned,
                                const plan::Plan& plan,
                                const AgeLimit& limit,
                                const ImageName& name) {
  std::vector<std::string> made;
  auto parent = parent_in_engine(services, request, scanned, plan, limit, name, made);
  if (!parent) {
    return std::nullopt;
  }
  auto& docker = services.docker();
  Assembly assembly{services, plan, std::move(*parent),
                    Assembly::make_layers(services, plan, made)};
  const auto source = assembly.source();
  Loaded loaded{.image_id = source.manifest.config.digest.str()};
  std::size_t below = 0;
  for (const auto& layer : assembly.layers()) {
    if (layer.is_parents) {
      ++below;
    } else {
      loaded.layers.push_back(
          {.id = layer.blob.known->digest.str(), .size = layer.blob.known->size});
    }
  }
  // What the last image of the project has of the layers need not be loaded again.
  std::vector<std::string> candidates{name.reference.with_tag(last_run_tag)};
  if (const auto before = services.build_records.get(request.project.directory)) {
    candidates.push_back(name.reference.with_tag(key_tag(before->image_key)));
  }
  const auto there = std::max(below, layers_there(docker, source, candidates));
  services.cancellation->throw_if_requested();
  try {
    load(docker, source, {name.keyed(plan).tagged()}, there);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::remote) {
      throw;
    }
    services.reporter->detail(
        fmt::format("{}, so it is built: {}", error.what(), fmt::join(error.causes(), ": ")));
    return std::nullopt;
  }
  return loaded;
}

}  // namespace autopack::pipeline
