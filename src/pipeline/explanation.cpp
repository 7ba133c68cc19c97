#include "pipeline/explanation.hpp"

#include "base/background.hpp"
#include "base/text.hpp"
#include "build/cloud/cloud_builder.hpp"
#include "build/direct/assembly.hpp"
#include "build/direct/installation.hpp"
#include "build/wheels/wheel_image.hpp"
#include "image/manifest.hpp"
#include "pipeline/choose_builder.hpp"
#include "pipeline/gpu_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace autopack::pipeline {

namespace {

using packaging::ImageName;
using packaging::Outcome;
using packaging::Packaging;

/// Larger layers are not made just to be inspected.
constexpr std::uint64_t made_to_look_at{64'000'000};

/// Options for a registry that is skipped if it does not respond immediately.
registry::RepositoryOptions without_waiting(Services& services) {
  return {.client = &services.client(),
          .credentials = services.credentials,
          .cancellation = services.cancellation,
          .sleep = [](std::chrono::milliseconds) {}};
}

/// The registry of the image, as long as it responds.
class TargetLook {
public:
  TargetLook(Services& services, const ImageName& name, ExpectedUpload& upload) : upload_{upload} {
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
    return ask([&] { return repository_->has_blob(digest, std::nullopt); });
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
      upload_.unknown = error.causes().empty() ? error.message() : error.causes().back();
      repository_.reset();
      return std::nullopt;
    }
  }

  ExpectedUpload& upload_;
  std::unique_ptr<registry::Repository> repository_{};
};

/// Returns the text of the base's manifest, requested if not cached; nothing without a response.
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
    services.reporter->detail(error.what());
    return std::nullopt;
  }
}

/// Adds the base's layers as one line, if its manifest is cached.
void add_base(Services& services,
              const Packaging& work,
              TargetLook& target,
              Explanation& explanation) {
  const auto& plan = work.plan();
  const auto& name = work.name();
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
    if (!layer.upload && !explanation.upload.unknown) {
      layer.upload = missing > 0;
    }
  } else if (!layer.upload) {
    explanation.upload.exact = false;
  }
  explanation.upload.bytes += missing;
  explanation.layers.push_back(std::move(layer));
}

void add_dependencies(const Packaging& work, Explanation& explanation) {
  if (!work.needs_dependencies() || !work.key_is_whole()) {
    return;
  }
  ExplainedLayer layer{.name = "dependencies " + work.dependency_tag()};
  const auto& upload = explanation.upload;
  if (upload.image_is_there || upload.dependencies_are_there || !work.name().has_registry) {
    layer.upload = false;
  } else if (!upload.unknown) {
    layer.upload = true;
  }
  explanation.upload.exact = explanation.upload.exact && layer.upload == false;
  explanation.layers.push_back(std::move(layer));
}

/// The docker engine makes one layer for each copy, and only a build determines its digest.
void add_copies(const Packaging& work, Explanation& explanation) {
  const auto& plan = work.plan();
  auto& upload = explanation.upload;
  for (const auto& copy : plan.copies) {
    ExplainedLayer layer{.name = copy.source.empty() ? "the whole directory" : copy.source};
    for (const auto& entry : plan.code) {
      const bool is_below = copy.source.empty() || entry.path == copy.source ||
                            entry.path.starts_with(copy.source + "/");
      layer.size += is_below ? entry.size : 0;
    }
    if (upload.image_is_there || !work.name().has_registry) {
      layer.upload = false;
    } else if (!upload.unknown) {
      layer.upload = true;
    }
    upload.bytes += layer.upload == true ? layer.size : 0;
    upload.exact = upload.exact && layer.upload == false;
    explanation.layers.push_back(std::move(layer));
  }
}

void add_code(Services& services,
              const Packaging& work,
              TargetLook& target,
              Explanation& explanation) {
  const auto& plan = work.plan();
  auto& upload = explanation.upload;
  for (const auto& [made, recipe] :
       build::make_code_layers(services, plan, build::last_made(services, plan))) {
    ExplainedLayer layer{.name = made.name, .size = recipe->size};
    if (!made.known() && recipe->size <= made_to_look_at) {
      image::read_all(made.blob.open(), [](std::string_view) {});
    }
    if (const auto known = made.known()) {
      layer.digest = known->digest;
      layer.size = known->size;
    }
    if (upload.image_is_there || !work.name().has_registry) {
      layer.upload = false;
    } else if (layer.digest) {
      const auto there = target.has(*layer.digest);
      layer.upload = there ? std::optional{!*there} : std::nullopt;
    } else if (!upload.unknown) {
      layer.upload = true;
    }
    upload.bytes += layer.upload == true ? layer.size : 0;
    upload.exact = upload.exact && layer.digest.has_value();
    explanation.layers.push_back(std::move(layer));
  }
}

/// Returns the files that git's rules would exclude, as far as they are in the image.
std::vector<Kept> kept_of(const Packaging& work) {
  std::vector<Kept> kept;
  for (const auto& [path, why] : work.scanned().project.ignore.kept()) {
    if (plan::entry_in_image(work.plan(), path) != nullptr) {
      kept.push_back({.path = path, .why = why});
    }
  }
  return kept;
}

/// Returns true if the engine, where the image is to stay, has it; nothing if there is no engine.
std::optional<bool> engine_has(Services& services, const Packaging& work) {
  if (work.name().has_registry || !work.key_is_whole()) {
    return std::nullopt;
  }
  try {
    return services.docker().inspect(work.keyed_name().tagged()).has_value();
  } catch (const Error& error) {
    services.reporter->detail(error.what());
    return std::nullopt;
  }
}

/// Adds the predicted outcomes, from the registry and the last installation.
void add_outcomes(Services& services, const Packaging& work, Explanation& explanation) {
  const auto& there = explanation.upload;
  const bool reuses = !work.request().no_cache;
  explanation.image = reuses && there.image_is_there
                          ? Outcome{.reused = true, .reason = "the registry has it"}
                          : expected_image(work);
  if (reuses && engine_has(services, work) == true) {
    explanation.image = reused_image(work);
  }
  explanation.dependencies = expected_dependencies(work);
  if (!explanation.dependencies) {
    return;
  }
  auto outdated = build::last_installation(services, work.plan()).outdated;
  if (outdated && !there.image_is_there) {
    explanation.dependencies = Outcome{.reason = std::move(*outdated)};
  } else if (reuses && (there.image_is_there || there.dependencies_are_there)) {
    explanation.dependencies = Outcome{.reused = true, .reason = "the registry has them"};
  }
}

/// Returns `the project's own package from its files`.
std::string own_package(const build::ExpectedInstallation& expected) {
  return std::string{"the project's own package"} +
         (expected.own_is_built ? "" : " from its files");
}

std::string when(const build::ExpectedInstallation& expected) {
  return expected.built.empty() ? "without an engine"
                                : "once the docker engine has built " + join(expected.built, ", ");
}

/// Returns ExplainedPackage::origin of the package `name`.
std::optional<std::string> where_required(const project::Project& project,
                                          const std::string& name) {
  if (project.lock) {
    return std::nullopt;
  }
  for (const auto& listed : project.listed_requirements) {
    if (!listed.constraint && listed.requirement.name == name) {
      return project.origin_of(listed.origin);
    }
  }
  const auto asked = std::ranges::find_if(project.requirements,
                                          [&](const auto& one) { return one.parts.name == name; });
  return asked == project.requirements.end() ? "" : project.origin_of(asked->origin);
}

void add_packages(const Packaging& work,
                  const build::ExpectedInstallation& expected,
                  Explanation& explanation) {
  for (const auto& one : expected.sized) {
    explanation.packages.push_back({.name = one.name,
                                    .version = one.version,
                                    .host = one.host,
                                    .origin = where_required(work.scanned().project, one.name),
                                    .required_by = one.required_by,
                                    .size = one.size});
  }
  std::ranges::stable_sort(explanation.packages, std::greater{}, &ExplainedPackage::size);
}

void add_installer(Services& services, const Packaging& work, Explanation& explanation) {
  const auto expected = build::expected_installation(services, work);
  add_packages(work, expected, explanation);
  if (explanation.cloud_build) {
    explanation.installer =
        Installer{"cloud-build", "by Cloud Build: " + explanation.cloud_build->why};
  } else if (!expected.obstacles.empty()) {
    explanation.installer =
        Installer{"docker", "by the docker engine: " + join(expected.obstacles, "; ")};
  } else if (expected.resolves) {
    explanation.installer = Installer{
        "wheels", fmt::format("as layers of their wheels, once {}uv has chosen the versions that "
                              "are left open",
                              expected.built.empty() ? ""
                                                     : "the docker engine has built " +
                                                           join(expected.built, ", ") + " and ")};
  } else if (expected.packages == 0 && expected.own) {
    explanation.installer = Installer{"wheels", own_package(expected) + ", " + when(expected)};
  } else if (expected.packages > 0) {
    Installer wheels{.name = "wheels"};
    wheels.text = fmt::format("{} pinned package{} as layers of their wheels{}, {}",
                              expected.packages, expected.packages == 1 ? "" : "s",
                              expected.own ? " and " + own_package(expected) : "", when(expected));
    wheels.text +=
        !expected.byte_code
            ? "; their byte code is made where the program runs, about 0.1 s for each MB of source "
              "that it imports (`--compile-bytecode` ships it)"
            : fmt::format("; with byte code, about as large as their sources, made by {}",
                          *expected.byte_code);
    explanation.installer = std::move(wheels);
  }
}

ExplainedGpu explain_gpu_code(Services& services, const Packaging& work) {
  auto code = find_gpu_code(services, work);
  ExplainedGpu gpu{.devices = work.request().devices,
                   .unread = std::move(code.unread),
                   .is_executor_unread = code.is_executor_unread};
  // A TPU runs no code of a GPU.
  std::erase_if(gpu.devices, [](const gpu::Device& device) { return !device.capability; });
  for (const auto& [package, is_of_executor] : code.parts) {
    for (const auto& library : package.libraries) {
      ExplainedLibrary row{.package = package.name,
                           .version = package.version,
                           .is_of_executor = is_of_executor,
                           .library = library};
      for (const auto& device : gpu.devices) {
        row.fits.push_back(gpu::fit_of(library.code, *device.capability));
      }
      for (const auto& one : gpu.devices.empty() ? std::vector<gpu::Code>{} : library.code.code) {
        const bool is_used = std::ranges::any_of(gpu.devices, [&](const gpu::Device& device) {
          return gpu::runs_on(one, *device.capability);
        });
        row.unused_bytes += is_used ? 0 : one.bytes;
      }
      gpu.libraries.push_back(std::move(row));
    }
  }
  std::ranges::stable_sort(gpu.libraries, std::greater{},
                           [](const ExplainedLibrary& one) { return one.library.size; });
  return gpu;
}

}  // namespace

std::string ExplainedCloudBuild::text() const {
  return fmt::format("project `{}`, region `{}`, gets {} file{} in `gs://{}`: {}",
                     printable(project), printable(region), files, files == 1 ? "" : "s", bucket,
                     why);
}

std::optional<ExplainedCloudBuild> explain_cloud_build(Services& services, const Packaging& work) {
  if (!work.request().uses_cloud_build || !work.wanted().is_pushed()) {
    return std::nullopt;
  }
  const auto why = need_of_engine(services, work);
  if (!why) {
    return std::nullopt;
  }
  auto place = build::cloud_place(services, work.wanted());
  return ExplainedCloudBuild{.why = *why,
                             .project = std::move(place.project),
                             .region = std::move(place.region),
                             .bucket = std::move(place.bucket),
                             .files = build::files_to_send(work)};
}

Explanation explain(Services& services, const Packaging& work, Adviser& adviser) {
  const auto look = [&work] { return find_left_out(work); };
  auto left_out = work.scanned().tree->lists_in_threads() ? in_background(look)
                                                          : Background<std::vector<LeftOut>>{};
  Explanation explanation{.kept = kept_of(work), .engine = "direct"};
  if (const auto obstacle = obstacle_to_direct(work)) {
    explanation.engine = work.request().uses_cloud_build ? "cloud-build" : "docker";
    explanation.engine_why = *obstacle;
  }
  explanation.cloud_build = explain_cloud_build(services, work);
  if (work.needs_dependencies()) {
    add_installer(services, work, explanation);
  }
  auto& upload = explanation.upload;
  TargetLook target{services, work.name(), upload};
  upload.image_is_there = target.manifest(work.key_tag()).has_value();
  if (!upload.image_is_there && work.needs_dependencies()) {
    upload.dependencies_are_there = target.manifest(work.dependency_tag()).has_value();
  }
  const bool reuses = work.key_is_whole() && !work.request().no_cache;
  const bool is_enough = explanation.engine == "direct" && upload.dependencies_are_there;
  if (reuses && (upload.image_is_there || is_enough)) {
    explanation.cloud_build.reset();
  }
  add_base(services, work, target, explanation);
  add_dependencies(work, explanation);
  if (explanation.engine == "direct") {
    add_code(services, work, target, explanation);
  } else {
    add_copies(work, explanation);
  }
  add_outcomes(services, work, explanation);
  explanation.gpu = explain_gpu_code(services, work);
  explanation.advice = adviser.advice(executor::LookInto::engine);
  if (explanation.installer && explanation.installer->name != "wheels") {
    const auto& unread = work.scanned().project.unread_by_pip;
    explanation.advice.insert(explanation.advice.end(), unread.begin(), unread.end());
  }
  explanation.left_out = left_out.valid() ? left_out.get() : look();
  return explanation;
}

}  // namespace autopack::pipeline
