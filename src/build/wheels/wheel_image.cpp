#include "build/wheels/wheel_image.hpp"

#include "base/text.hpp"
#include "build/direct/assembly.hpp"
#include "build/wheels/byte_code.hpp"
#include "build/wheels/index_failure.hpp"
#include "build/wheels/own_package.hpp"
#include "build/wheels/package_index.hpp"
#include "build/wheels/sources_of_set.hpp"
#include "build/wheels/wheel_choice.hpp"
#include "build/wheels/wheel_layers.hpp"
#include "executor/python_facts.hpp"
#include "http/client.hpp"
#include "lock/select.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace autopack::build {

namespace {

using packaging::Packaging;

Configure configure_dependencies(const plan::Plan& plan, std::size_t wheels) {
  return [key = plan.keys.value().dependencies, wheels,
          with_byte_code = plan.compile_bytecode](image::Configuration& configuration) {
    configuration.set_working_directory("/usr/app");
    configuration.set_environment("HOME", "/home");
    configuration.set_label(packaging::dependency_key_label, key);
    if (!with_byte_code) {
      configuration.set_label(packaging::wheels_label, std::to_string(wheels));
    }
  };
}

/// Returns the image with the selection of `requirements` on `base`.
WheelImage install(Services& services,
                   const Packaging& work,
                   image::Source base,
                   const Requirements& requirements,
                   const WheelPolicy& policy) {
  const auto& facts = requirements.facts;
  const auto index = std::make_shared<PackageIndex>(services, work, facts.default_index);
  auto [set, wheels, files, obstacles] = choose_wheels(
      services, work, index,
      {.set = *requirements.set, .interpreter = *facts.interpreter, .policy = policy});
  const auto own = obstacles.empty() ? make_own_package(work, index->wheels()) : std::nullopt;
  if (own) {
    set.packages.push_back(own->package);
  }
  WheelLayers layers{services, work, facts};
  if (work.plan().compile_bytecode) {
    layers.compile_with(find_compiler(services, work, *facts.interpreter));
  }
  if (obstacles.empty()) {
    obstacles = layers.settle(set);
  }
  if (!obstacles.empty()) {
    return {.obstacles = std::move(obstacles)};
  }
  for (const auto& warning : set.warnings) {
    services.reporter->warn(warning);
  }
  std::erase_if(wheels, [&](const auto& wheel) { return layers.has(wheel.name); });
  const std::size_t count = wheels.size();
  const auto fetch = [&, &where = files](const std::vector<wheel::ChosenWheel>& some) {
    std::vector<index::Download> downloads;
    for (const auto& wheel : some) {
      downloads.push_back(where.at(wheel.digest));
    }
    index->fetch(downloads, count);
  };
  auto above = own ? layers_of(*own, layers.place()) : std::vector<LayerRecipe>{};
  auto all =
      layers.recipes(std::move(wheels), base.manifest.layers.size(), fetch, std::move(above));
  auto made = make_layers(services, all.recipes);
  WheelSet set_of_layers{all, made, layers.place()};
  if (own) {
    services.install_records.put(work.plan().keys.value().dependencies, own->record);
  }
  return {
      .image = stack(services, std::move(base), made, configure_dependencies(work.plan(), count)),
      .wheels = std::move(set_of_layers)};
}

}  // namespace

ExpectedInstallation expected_installation(Services& services, const Packaging& work) {
  ExpectedInstallation expected{.obstacles = obstacles_to_wheels(work)};
  auto facts = executor::known_python(services, work.plan().base);
  if (!expected.obstacles.empty() || !facts) {
    return expected;
  }
  auto found = find_requirements(work, std::move(*facts));
  expected.obstacles = std::move(found.obstacles);
  if (!found.set) {
    return expected;
  }
  if (work.plan().compile_bytecode) {
    const auto here = find_compiler_here(services, *found.facts.interpreter);
    expected.byte_code =
        here ? here->words : "the executor image's own Python, in the docker engine";
  }
  expected.packages = found.set->packages.size();
  expected.own = work.plan().dependencies.install;
  const lock::FileChooser files{*found.facts.interpreter};
  for (const auto& package : found.set->packages) {
    if (auto obstacle = obstacle_of(package, files)) {
      expected.obstacles.push_back(std::move(*obstacle));
    } else if (const auto kind = kind_of_source(package, files)) {
      const auto& name = package.name.empty() && package.source
                             ? package.source->directory.value_or(package.source->repository)
                             : package.name;
      expected.built.push_back(fmt::format("`{}` ({})", printable(name), *kind));
    }
  }
  return expected;
}

WheelImage make_wheel_image(Services& services,
                            const Packaging& work,
                            image::Source base,
                            const WheelPolicy& policy) {
  if (auto obstacles = obstacles_to_wheels(work); !obstacles.empty()) {
    return {.obstacles = std::move(obstacles)};
  }
  const auto& executor = work.plan().base;
  if (services.notes && executor.digest) {
    services.notes->read(*executor.digest, work.plan().platform);
  }
  const auto requirements = find_requirements(
      work, executor::python_facts(services, executor, executor::image_places(work.request())));
  if (!requirements.set) {
    return {.obstacles = requirements.obstacles};
  }
  if (work.request().strict) {
    services.notes.reset();  // layers are made to verify the notes about wheels
  }
  try {
    return install(services, work, std::move(base), requirements, policy);
  } catch (const http::TransportError& error) {
    return {.obstacles = {hand_over_to_pip(services, work, error)}};
  }
}

}  // namespace autopack::build
