#include "pipeline/files.hpp"

#include "base/descriptor.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"
#include "engine/direct.hpp"
#include "image/file_image.hpp"
#include "image/file_output.hpp"
#include "pipeline/age.hpp"
#include "pipeline/assembly.hpp"
#include "pipeline/direct.hpp"
#include "pipeline/image_source.hpp"
#include "pipeline/installation.hpp"
#include "pipeline/loading.hpp"
#include "pipeline/reasons.hpp"
#include "pipeline/registries.hpp"
#include "pipeline/reuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace autopack::pipeline {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of(const plan::Plan& plan, const ImageName& name) {
  std::vector<std::string> names{name.keyed(plan).tagged()};
  if (!name.reference.tag.empty()) {
    names.push_back(name.reference.tagged());
  }
  return names;
}

/// Loads what the engine does not have yet; all of it where the engine does not take a part.
void load_missing(engine::Docker& docker,
                  const image::Source& image,
                  const std::vector<std::string>& names,
                  const std::vector<std::string>& candidates) {
  const std::size_t there = layers_there(docker, image, candidates);
  try {
    load(docker, image, names, there);
  } catch (const Error& error) {
    if (there == 0 || error.kind() != ErrorKind::remote) {
      throw;
    }
    load(docker, image, names, 0);
  }
}

void write_archive_file(const image::Source& image,
                        const fs::path& path,
                        const std::vector<std::string>& names) {
  sweep_leftovers(path);
  NewFile file{path};
  image::write_archive(image, names, 0, [&](std::string_view bytes) { file.write(bytes); });
  file.commit();
}

void write(Services& services,
           const image::Source& source,
           const plan::Plan& plan,
           const std::vector<std::string>& names,
           const Output& output) {
  with_context(fmt::format("could not write `{}`", printable(output.text)), [&] {
    switch (output.kind) {
      case Output::Kind::layout: image::write_layout(source, output.path, output.tag); break;
      case Output::Kind::archive: write_archive_file(source, output.path, names); break;
      case Output::Kind::docker: {
        auto candidates = names;
        candidates.push_back(image::build_name(plan.base));
        if (plan.base.digest && !image::names_files(plan.base.reference)) {
          candidates.back() =
              image::Reference::parse(plan.base.reference).with_digest(*plan.base.digest);
        }
        load_missing(services.docker(), source, names, candidates);
        break;
      }
    }
  });
  services.reporter->done("Wrote", printable(output.text));
}

/// Writes all outputs but, with `in_daemon`, the daemon itself.
void write_outputs(Services& services,
                   const PackageRequest& request,
                   const plan::Plan& plan,
                   const ImageName& name,
                   const std::function<image::Source()>& open,
                   bool in_daemon) {
  std::optional<image::Source> source;
  for (const auto& output : request.outputs) {
    if (output.kind == Output::Kind::docker && in_daemon) {
      continue;
    }
    if (!source) {
      source = open();
    }
    services.cancellation->throw_if_requested();
    write(services, *source, plan, names_of(plan, name), output);
  }
}

/// The image of the engine named `name`, by way of a file in the cache that is gone with it.
image::Source taken_out(Services& services, const std::string& name, const std::string& platform) {
  const fs::path place = services.environment.cache_directory() / "saved.tar";
  sweep_leftovers(place);
  NewFile file{place};
  services.docker().save(name, [&](std::string_view bytes) { file.write(bytes); });
  auto source = image::open_files(
      {.kind = image::FileReference::Kind::archive, .path = file.path(), .text = name}, platform);
  return Assembly{services, std::move(source)}.source();
}

/// The dependency image of `plan` where its registry has it.
std::optional<Parent> found_dependencies(Services& services,
                                         const PackageRequest& request,
                                         const plan::Plan& plan,
                                         const AgeLimit& limit,
                                         const ImageName& name) {
  if (!name.has_registry || request.no_cache) {
    return std::nullopt;
  }
  const std::shared_ptr<registry::Repository> repository =
      open_repository(services, name.reference, registry::Access::pull);
  const auto found = repository->head_manifest(dependency_tag(plan.dependency_key));
  if (!found) {
    return std::nullopt;
  }
  if (limit.applies() &&
      limit.is_past(run_times(services, *repository, found->digest, plan.platform), true,
                    std::time(nullptr))) {
    return std::nullopt;
  }
  Parent parent{.reference = name.reference};
  parent.reference->digest = found->digest;
  parent.image = registry_image(services, repository, *parent.reference, plan.platform);
  return installation_in(services, plan, parent.image).outdated ? std::nullopt
                                                                : std::optional{std::move(parent)};
}

Outcome outcome_of(const PackageRequest& request, const Reasons& reasons) {
  const bool changed =
      reasons.first || !reasons.changes.code.empty() || !reasons.changes.dependencies.empty();
  return changed || request.no_cache ? expected_image(request, reasons)
                                     : Outcome{.reason = "--output asks for it"};
}

Image put_together(Services& services,
                   const PackageRequest& request,
                   const plan::Plan& plan,
                   const Reasons& reasons,
                   const ImageName& name,
                   image::Source parent) {
  Image image{.repository = name.reference.repository(),
              .tag = key_tag(plan.image_key),
              .outcome = outcome_of(request, reasons),
              .dependencies = reused_dependencies(reasons, plan),
              .engine = "direct"};
  tell_planned(services, image);
  Assembly assembly{services, plan, std::move(parent),
                    Assembly::make_layers(services, plan, last_made(services, plan))};
  auto source = assembly.source();
  image.image_id = source.manifest.config.digest.str();
  for (const auto& layer : assembly.layers()) {
    if (!layer.is_parents) {
      image.layers.push_back(
          {.id = layer.blob.known->digest.str(), .size = layer.blob.known->size});
    }
  }
  const auto made = [&] { return source; };
  write_outputs(services, request, plan, name, made, false);
  return image;
}

/// Why the image cannot be put together here; none when it can, and then `parent` is there.
std::optional<std::string> obstacle(Services& services,
                                    const PackageRequest& request,
                                    const plan::Plan& plan,
                                    const AgeLimit& limit,
                                    const ImageName& name,
                                    std::optional<Parent>& parent) {
  if (auto reason = obstacle_to_direct(request, plan, false)) {
    return reason;
  }
  if (engine::needs_no_dependency_image(plan)) {
    parent = base_image(services, plan);
    return std::nullopt;
  }
  parent = found_dependencies(services, request, plan, limit, name);
  return parent ? std::nullopt
                : std::optional<std::string>{
                      "its dependencies have to be installed, and no "
                      "registry was named that has the dependency image"};
}

}  // namespace

Image package_to_files(Services& services,
                       const PackageRequest& request,
                       const Scanned& scanned,
                       const plan::Plan& plan,
                       const Reasons& reasons,
                       const ImageName& name) {
  const auto is_docker = [](const Output& output) { return output.kind == Output::Kind::docker; };
  if (std::any_of(request.outputs.begin(), request.outputs.end(), is_docker)) {
    // An engine that is not there is told before anything is written.
    services.docker().info();
  }
  std::optional<Parent> parent;
  const auto reason = obstacle(services, request, plan, {request, scanned, plan}, name, parent);
  if (!reason) {
    return put_together(services, request, plan, reasons, name, std::move(parent->image));
  }
  if (request.engine == Engine::direct) {
    throw Error(ErrorKind::usage, "`--engine=direct` cannot make this image")
        .cause(*reason)
        .hint("`--engine=auto` takes the docker engine where it is needed");
  }
  Image image;
  try {
    image = build(services, request, scanned, plan, reasons, name);
  } catch (Error& error) {
    if (error.kind() == ErrorKind::environment) {
      error.wrap("only an engine can build this image: " + *reason);
    }
    throw;
  }
  write_outputs(
      services, request, plan, name,
      [&] { return taken_out(services, name.keyed(plan).tagged(), plan.platform); }, true);
  return image;
}

void write_pushed(Services& services,
                  const PackageRequest& request,
                  const plan::Plan& plan,
                  const ImageName& name,
                  Image& image) {
  auto reference = name.reference;
  reference.digest = image.digest;
  const bool in_daemon = image.engine == "docker" && !image.image_id.empty();
  write_outputs(
      services, request, plan, name,
      [&] {
        return registry_image(services,
                              open_repository(services, reference, registry::Access::pull),
                              reference, plan.platform);
      },
      in_daemon);
}

void load_base(Services& services, const plan::Plan& plan) {
  const auto files = image::FileReference::parse(plan.base.reference);
  const std::string name = image::build_name(plan.base);
  if (files && !services.docker().inspect(name)) {
    load(services.docker(), image::open_files(*files, plan.platform), {name}, 0);
  }
}

}  // namespace autopack::pipeline
