#include "build/wheels/wheel_layers.hpp"

#include "base/error.hpp"
#include "image/tar.hpp"
#include "lock/file_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace autopack::build {

namespace {

using executor::BaseDecision;

/// The limit of the engine (moby's maxLayerDepth).
constexpr std::size_t most_layers{125};
/// Reserved for the code, directories, removals, and images built on top.
constexpr std::size_t kept_free{30};
constexpr std::size_t fewest_layers{4};
/// Directories, removals and code.
constexpr std::size_t other_layers{3};

std::string without_slash(const std::string& path) {
  return path.substr(path.find_first_not_of('/'));
}

/// As in pip, a package built from files of the project replaces its own version, too.
bool is_built_in_place(const lock::LockedPackage& package) {
  return package.source ? package.source->directory.has_value()
                        : !package.files.empty() && package.files.front().path &&
                              !lock::is_wheel(package.files.front().name);
}

}  // namespace

WheelLayers::WheelLayers(Services& services,
                         const packaging::Packaging& work,
                         const executor::PythonFacts& facts)
    : services_{services}, work_{work}, facts_{facts} {
  place_.interpreter = facts.interpreter.value();
  place_.time = image::file_time(services.environment);
  for (const auto& directory : facts.directories) {
    place_.directories.insert(without_slash(directory));
  }
}

std::vector<std::string> WheelLayers::settle(const lock::LockedSet& set) {
  std::vector<std::string> obstacles;
  std::vector<executor::WantedDistribution> wanted;
  for (const auto& package : set.packages) {
    if (!package.version) {
      obstacles.push_back(fmt::format("{}: `{}` has no version", package.place, package.name));
      continue;
    }
    wanted.push_back({package.name, *package.version, is_built_in_place(package)});
  }
  for (const auto& decision : executor::decide_on_base(work_.plan().base, facts_, wanted,
                                                       executor::GpuLibraries::replaced)) {
    for (const auto i : decision.installed) {
      const auto& own = facts_.installed.at(i);
      base_packages_.insert(fmt::format("{}=={}", own.name, own.version.value_or("")));
    }
    switch (decision.action) {
      case BaseDecision::Action::install: break;
      case BaseDecision::Action::keep:
      case BaseDecision::Action::keep_for_gpu: kept_.insert(decision.name); break;
      case BaseDecision::Action::replace:
        warn_of_gpu(decision);
        remove(decision.installed);
        break;
      case BaseDecision::Action::refuse: obstacles.push_back(decision.reason.value_or("")); break;
    }
  }
  return obstacles;
}

std::vector<std::string> WheelLayers::base_packages(
    const std::map<std::string, python::Version>& provided) const {
  auto all = base_packages_;
  for (const auto& [name, version] : provided) {
    all.insert(fmt::format("{}=={}", name, version.str()));
  }
  return {all.begin(), all.end()};
}

void WheelLayers::remove(const std::vector<std::size_t>& distributions) {
  const auto files = executor::installed_files(services_, work_.plan().base,
                                               executor::image_places(work_.request()));
  for (const std::size_t i : distributions) {
    for (const auto& file : files.at(i)) {
      removed_.insert(without_slash(file));
    }
  }
}

/// Packages for the image's CUDA may not work with another version.
void WheelLayers::warn_of_gpu(const BaseDecision& decision) const {
  const auto& cuda = work_.plan().base.cuda_version;
  if (!cuda || !executor::belongs_to_gpu(decision.name)) {
    return;
  }
  const auto& own = facts_.installed.at(decision.installed.front());
  services_.reporter->warn(Problem::warning(
      {.message = fmt::format("`{}` {} of the executor image, which is for CUDA {}, is replaced",
                              own.name, own.version.value_or(""), *cuda),
       .hints = {fmt::format("leave `{}` out of the requirements to keep it", own.name)}}));
}

WheelRecipes WheelLayers::recipes(std::vector<wheel::ChosenWheel> wheels,
                                  std::size_t below,
                                  const FetchWheels& fetch,
                                  std::vector<LayerRecipe> above) const {
  WheelRecipes all{.chosen = std::make_shared<const Wheels>(std::move(wheels))};
  all.recipes.push_back(program_directories(place_.time));
  if (!removed_.empty()) {
    all.recipes.push_back(removal());
  }
  all.wheels.resize(all.recipes.size());
  const auto gpu_code = std::make_shared<GpuCodeReader>(services_, all.chosen);
  for (const auto& group : groups(*all.chosen, below, fetch)) {
    all.recipes.push_back(layer_of(group, all.chosen, gpu_code));
    all.wheels.push_back(group.wheels);
    all.groups.resize(all.wheels.size());
    all.groups.back() = group;
    if (compiler_) {
      all.recipes.push_back(byte_code_of(compiler_, group, all.recipes.back(), all.chosen, place_));
      all.wheels.push_back(group.wheels);
    }
  }
  for (auto& recipe : above) {
    all.recipes.push_back(std::move(recipe));
    all.wheels.emplace_back();
  }
  all.groups.resize(all.wheels.size());
  std::vector<std::string> unknown;
  for (auto& recipe : all.recipes) {
    recipe.annotations[packaging::layer_key_annotation] = recipe.key;
    if (!is_known(recipe.key)) {
      unknown.push_back(recipe.key);
    }
  }
  if (services_.repository_facts && !unknown.empty()) {
    services_.repository_facts->look_for_layers(unknown);
  }
  return all;
}

std::vector<wheel::LayerGroup> WheelLayers::groups(const Wheels& wheels,
                                                   std::size_t below,
                                                   const FetchWheels& fetch) const {
  const std::size_t room = most_layers - std::min(most_layers, below + kept_free);
  const std::size_t left = most_layers - std::min(most_layers, below + other_layers);
  const std::size_t fewest = std::clamp<std::size_t>(left, 1, fewest_layers);
  const std::size_t budget = std::max(fewest, compiler_ ? room / 2 : room);
  const auto key = wheel::grouping_key(wheels, place_, budget);
  const auto text = services_.wheel_records.get(key);
  auto grouping = text ? wheel::grouping_from_json(*text, wheels.size()) : std::nullopt;
  if (!grouping) {
    grouping = group_anew(wheels, budget, key, fetch);
  }
  for (const auto& warning : grouping->warnings) {
    services_.reporter->warn(warning);
  }
  return std::move(grouping->layers);
}

/// Checks the remembered lists of files against each wheel that must be opened to make a layer, and
/// does not cache the others.
wheel::Grouping WheelLayers::group_anew(const Wheels& wheels,
                                        std::size_t budget,
                                        const std::string& key,
                                        const FetchWheels& fetch) const {
  WheelLists lists{services_, wheels, place_, fetch};
  auto grouping = wheel::group(lists.all(), budget);
  if (lists.is_reported()) {
    if (!lists.holds_for(to_be_opened(grouping.layers, wheels))) {
      services_.reporter->detail(
          "remembered facts about wheels were wrong: autopack reads all wheels");
      grouping = wheel::group(lists.all(), budget);
    }
  }
  if (!lists.is_reported()) {
    services_.wheel_records.put(key, wheel::to_json(grouping));
  }
  return grouping;
}

/// Returns the wheels of layers that neither the cache nor the repository has.
std::set<std::size_t> WheelLayers::to_be_opened(const std::vector<wheel::LayerGroup>& layers,
                                                const Wheels& wheels) const {
  std::vector<std::string> keys;
  for (const auto& layer : layers) {
    keys.push_back(wheel::layer_key(layer, wheels, place_));
  }
  for (std::size_t i = 0; compiler_ && i < layers.size(); ++i) {
    keys.push_back(byte_code_key(*compiler_, keys[i]));
  }
  services_.repository_facts->look_for_layers(keys);
  std::set<std::size_t> opened;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!is_known(keys[i])) {
      const auto& layer = layers[i % layers.size()];
      opened.insert(layer.wheels.begin(), layer.wheels.end());
    }
  }
  return opened;
}

/// Returns true if making the layer requires no wheel.
bool WheelLayers::is_known(const std::string& key) const {
  return services_.layer_cache.get(key) ||
         (services_.repository_facts && services_.repository_facts->layer(key));
}

LayerRecipe WheelLayers::removal() const {
  return {
      .name = "removed packages",
      .created_by = "autopack: packages of the executor image that others replace",
      .key = wheel::removal_key(removed_, place_.time),
      .write = [removed = removed_, time = place_.time](const image::LayerWriter::Take& out,
                                                        const std::optional<image::LayerFacts>&) {
        return wheel::write_removal(removed, time, out);
      }};
}

LayerRecipe WheelLayers::layer_of(const wheel::LayerGroup& group,
                                  const std::shared_ptr<const Wheels>& wheels,
                                  const std::shared_ptr<GpuCodeReader>& gpu_code) const {
  std::uint64_t size = 0;
  for (const std::size_t i : group.wheels) {
    size += wheels->at(i).size;
  }
  const auto& first = wheels->at(group.wheels.front());
  const std::string name = group.wheels.size() == 1
                               ? (group.part ? "part of " : "") + first.name
                               : fmt::format("{} and {} more", first.name, group.wheels.size() - 1);
  LayerRecipe recipe{.name = name,
                     .created_by = "autopack: wheels of " + name,
                     .key = wheel::layer_key(group, *wheels, place_),
                     .size = size,
                     .is_packed = !group.part};
  recipe.write = [group, wheels, gpu_code, place = place_](
                     const image::LayerWriter::Take& out,
                     const std::optional<image::LayerFacts>& known) {
    const auto watch = gpu_code->watch();
    return wheel::write_layer(group, *wheels, place, out, known, &watch);
  };
  return recipe;
}

}  // namespace autopack::build
