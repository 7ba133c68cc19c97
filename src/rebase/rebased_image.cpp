#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "image/manifest.hpp"
#include "image/rebased.hpp"
#include "packaging/packaging.hpp"
#include "rebase/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace autopack::rebase {

namespace {

/// Longer ones are shortened.
constexpr std::size_t most_of_a_step{60};

std::string short_step(const std::string& text) {
  const auto whole = printable(text);
  return whole.size() > most_of_a_step ? whole.substr(0, most_of_a_step) + "..." : whole;
}

image::RebasedParts parts_of(const image::Source& image,
                             const image::Source& before,
                             const image::Source& after) {
  return {
      .image = image.configuration, .before = before.configuration, .after = after.configuration};
}

bool begins_with(const std::vector<Digest>& whole, const std::vector<Digest>& start) {
  return whole.size() >= start.size() && std::equal(start.begin(), start.end(), whole.begin());
}

/// Returns the layers of `image` that its base does not have.
std::vector<image::Descriptor> own_layers(const image::Source& image, const image::Source& before) {
  const auto& layers = image.manifest.layers;
  const auto below =
      static_cast<std::ptrdiff_t>(std::min(layers.size(), before.manifest.layers.size()));
  return {layers.begin() + below, layers.end()};
}

std::optional<std::string> label_of(const image::Source& image, const char* name) {
  const auto labels =
      image::Configuration::parse(image.configuration, "the configuration of the image").labels();
  const auto found = labels.find(name);
  return found == labels.end() ? std::nullopt : std::optional{found->second};
}

/// Returns why the steps above the base cannot be moved.
std::vector<std::string> unmovable_steps(const image::Source& image, const image::Source& before) {
  const auto steps = image::own_steps(parts_of(image, before, before));
  if (!steps) {
    return {
        "its history does not continue that of its base, so it does not say how its layers "
        "were made"};
  }
  std::vector<std::string> found;
  std::size_t layers = 0;
  for (const auto& step : *steps) {
    layers += step.has_layer ? 1 : 0;
    if (image::is_run_step(step.created_by)) {
      found.push_back(
          fmt::format("`{}` ran on the files of the old base", short_step(step.created_by)));
    } else if (step.has_layer && !step.is_ours) {
      found.push_back(fmt::format("an engine made the layer of `{}` on the old base",
                                  short_step(step.created_by)));
    }
  }
  if (found.empty() && layers != own_layers(image, before).size()) {
    found.emplace_back("its history does not say how each of its layers was made");
  }
  return found;
}

}  // namespace

std::vector<std::string> unmovable(const image::Source& image, const image::Source& before) {
  if (!begins_with(image::check_layers(image), image::check_layers(before))) {
    return {
        fmt::format("its lowest layers are not those of `{}`, which its labels name as its base",
                    printable(before.name))};
  }
  auto found = unmovable_steps(image, before);
  if (const auto compiled = label_of(image, packaging::compiled_label)) {
    found.push_back("packages were compiled on the old base: " + printable(*compiled));
  }
  return found;
}

OwnPackages own_packages(const image::Source& image, const image::Source& before) {
  const auto steps = image::own_steps(parts_of(image, before, before));
  const bool has_wheels = steps && std::ranges::any_of(*steps, [](const image::OwnStep& step) {
                            return step.created_by.starts_with("autopack: wheels of");
                          });
  const bool has_marks =
      std::ranges::any_of(own_layers(image, before), [](const image::Descriptor& layer) {
        return layer.annotations.contains(packaging::layer_key_annotation);
      });
  OwnPackages packages{.installed = has_wheels || has_marks};
  const auto label = label_of(image, packaging::base_packages_label);
  if (packages.installed && label) {
    packages.of_base.emplace();
    for (const auto& one : split(*label, ',')) {
      packages.of_base->emplace(one.substr(0, one.find("==")));
    }
  }
  return packages;
}

image::Source rebased(const image::Source& image,
                      const image::Source& before,
                      const image::Source& after,
                      const std::map<std::string, std::string>& labels) {
  image::Source result{.name = image.name, .digest = image.digest, .manifest = after.manifest};
  auto& manifest = result.manifest;
  manifest.annotations.clear();
  std::set<Digest> of_base;
  for (const auto& layer : manifest.layers) {
    of_base.insert(layer.digest);
  }
  auto own = own_layers(image, before);
  if (after.manifest.media_type != image.manifest.media_type) {
    manifest = image::as_oci(std::move(manifest));
    auto as_oci = image.manifest;
    as_oci.layers = std::move(own);
    own = image::as_oci(std::move(as_oci)).layers;
  }
  manifest.layers.insert(manifest.layers.end(), own.begin(), own.end());
  result.configuration = image::rebased_configuration(parts_of(image, before, after), labels);
  manifest.config.digest = sha256(result.configuration);
  manifest.config.size = result.configuration.size();
  result.digest = sha256(image::to_json(manifest));
  result.open = [of_base = std::move(of_base), base = after.open,
                 above = image.open](const image::Descriptor& layer) {
    return of_base.contains(layer.digest) ? base(layer) : above(layer);
  };
  image::check_layers(result);
  return result;
}

}  // namespace autopack::rebase
