#include "verify/comparison.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "compare/contents.hpp"
#include "image/manifest.hpp"
#include "packaging/packaging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace autopack::verify {

namespace {

using Verdict = ComparedLayer::Verdict;

/// In text for people.
constexpr std::size_t most_files{20};

/// One image with what is needed to compare it.
struct Side {
  const image::Source& source;
  std::vector<Digest> diff_ids{};
  std::vector<std::string> names{};  ///< of the layers; empty if unknown
};

Side side_of(const image::Source& source) {
  return {.source = source,
          .diff_ids = image::check_layers(source),
          .names = image::Configuration::parse(source.configuration, "an image").layer_steps()};
}

std::string name_of(const Side& side, std::size_t i) {
  return i < side.names.size() ? side.names[i] : fmt::format("layer {}", i + 1);
}

ComparedLayer layer_of(const Side& side, std::size_t i, Verdict verdict) {
  const auto& descriptor = side.source.manifest.layers[i];
  return {.verdict = verdict,
          .name = name_of(side, i),
          .digest = descriptor.digest,
          .diff_id = side.diff_ids[i],
          .size = descriptor.size};
}

NamedLayer opened(const Side& side, std::size_t i, const char* whose) {
  return {.name = fmt::format("layer {} of the {}", i + 1, whose),
          .reader = side.source.open(side.source.manifest.layers[i])};
}

ComparedLayer compare_layer(const Cancellation& cancellation,
                            const Side& image,
                            const Side& rebuilt,
                            std::size_t i) {
  if (image.diff_ids[i] == rebuilt.diff_ids[i]) {
    const bool is_same =
        image.source.manifest.layers[i].digest == rebuilt.source.manifest.layers[i].digest ||
        image::is_plain_tar(image.source.manifest.layers[i]);
    return layer_of(image, i, is_same ? Verdict::equal : Verdict::compressed);
  }
  auto layer = layer_of(image, i, Verdict::differs);
  layer.difference =
      difference(opened(image, i, "image"), opened(rebuilt, i, "rebuilt image"), cancellation);
  return layer;
}

std::map<std::string, std::string> settings_of(const Cancellation& cancellation,
                                               const image::Source& source) {
  const auto ids = image::check_layers(source);
  return compare::read_image(cancellation, source, {ids.begin(), ids.end()}).configuration;
}

/// Returns true for a label that autopack did not always write: the same inputs give an image with
/// or without it.
bool is_optional(const std::string& setting) {
  return setting == std::string{"Labels "} + packaging::base_packages_label ||
         setting == std::string{"Labels "} + packaging::compiled_label;
}

/// Returns the changes from the settings of a rebuilt image, `before`, to those of the image.
std::vector<compare::Change<std::string>> changes(const std::map<std::string, std::string>& before,
                                                  const std::map<std::string, std::string>& after) {
  std::vector<compare::Change<std::string>> all;
  for (const auto& [name, value] : before) {
    const auto there = after.find(name);
    const bool is_absent = there == after.end();
    if (is_absent ? !is_optional(name) : there->second != value) {
      all.push_back({.name = name,
                     .before = value,
                     .after = is_absent ? std::nullopt : std::optional{there->second}});
    }
  }
  for (const auto& [name, value] : after) {
    if (!before.contains(name)) {
      all.push_back({.name = name, .after = value});
    }
  }
  return all;
}

bool is_different(Verdict verdict) {
  return verdict == Verdict::differs || verdict == Verdict::missing ||
         verdict == Verdict::additional;
}

std::string layers_text(std::size_t count) {
  return fmt::format("{} {}", count, count == 1 ? "layer" : "layers");
}

std::string value_text(const std::optional<std::string>& value) {
  return value ? fmt::format("`{}`", printable(*value)) : "absent";
}

std::string lines_of(const ComparedLayer& layer, std::size_t number) {
  std::string text = fmt::format("layer {} ({})", number, printable(layer.name));
  switch (layer.verdict) {
    case Verdict::missing: return text + ": the image does not have it\n";
    case Verdict::additional: return text + ": the rebuilt image does not have it\n";
    default: break;
  }
  if (layer.difference.count == 0) {
    return text + ": the same files in another order or format\n";
  }
  text += fmt::format(": {} {}\n", layer.difference.count,
                      layer.difference.count == 1 ? "difference" : "differences");
  for (std::size_t i = 0; i < layer.difference.files.size() && i < most_files; ++i) {
    const auto& file = layer.difference.files[i];
    text += fmt::format("  {}: {}\n", printable(file.path), file.what);
  }
  return text;
}

}  // namespace

bool Comparison::differs() const {
  return !configuration.empty() || !wheels.empty() ||
         std::ranges::any_of(
             layers, [](const ComparedLayer& layer) { return is_different(layer.verdict); });
}

Comparison compare_images(const Cancellation& cancellation,
                          const image::Source& image,
                          const image::Source& rebuilt) {
  const auto ours = side_of(image);
  const auto theirs = side_of(rebuilt);
  Comparison found;
  const auto shared = std::min(ours.diff_ids.size(), theirs.diff_ids.size());
  for (std::size_t i = 0; i < shared; ++i) {
    found.layers.push_back(compare_layer(cancellation, ours, theirs, i));
  }
  for (std::size_t i = shared; i < ours.diff_ids.size(); ++i) {
    found.layers.push_back(layer_of(ours, i, Verdict::additional));
  }
  for (std::size_t i = shared; i < theirs.diff_ids.size(); ++i) {
    found.layers.push_back(layer_of(theirs, i, Verdict::missing));
  }
  found.configuration =
      changes(settings_of(cancellation, rebuilt), settings_of(cancellation, image));
  return found;
}

std::string_view to_string(ComparedLayer::Verdict verdict) {
  switch (verdict) {
    case Verdict::equal: return "equal";
    case Verdict::compressed: return "compressed";
    case Verdict::differs: return "differs";
    case Verdict::missing: return "missing";
    case Verdict::additional: return "additional";
    case Verdict::unverified: break;
  }
  return "unverified";
}

std::string to_text(const Comparison& comparison) {
  std::string text;
  if (!comparison.differs() && comparison.unknown.empty()) {
    const auto compressed =
        std::ranges::count(comparison.layers, Verdict::compressed, &ComparedLayer::verdict);
    text = "equal: " + layers_text(comparison.layers.size());
    return compressed == 0 ? text + "\n"
                           : text + fmt::format(", {} of them compressed otherwise\n", compressed);
  }
  const auto differing = std::ranges::count_if(
      comparison.layers, [](const auto& layer) { return is_different(layer.verdict); });
  text = comparison.differs()
             ? fmt::format("differs: {} of {}", differing, layers_text(comparison.layers.size())) +
                   (comparison.configuration.empty() ? "\n" : ", and the configuration\n")
             : "unknown\n";
  for (std::size_t i = 0; i < comparison.layers.size(); ++i) {
    if (is_different(comparison.layers[i].verdict)) {
      text += lines_of(comparison.layers[i], i + 1);
    }
  }
  for (const auto& change : comparison.configuration) {
    text += fmt::format("configuration: {} is {} instead of {}\n", printable(change.name),
                        value_text(change.after), value_text(change.before));
  }
  for (const auto& wheel : comparison.wheels) {
    text += "wheel: " + wheel + "\n";
  }
  for (const auto& reason : comparison.unknown) {
    text += "not compared: " + reason + "\n";
  }
  return text;
}

nlohmann::json to_json(const Comparison& comparison) {
  auto layers = nlohmann::json::array();
  for (const auto& layer : comparison.layers) {
    auto files = nlohmann::json::array();
    for (const auto& file : layer.difference.files) {
      files.push_back({{"path", printable(file.path)}, {"what", file.what}});
    }
    const auto or_null = [](const std::optional<Digest>& digest) {
      return digest ? nlohmann::json(digest->str()) : nlohmann::json();
    };
    layers.push_back({{"verdict", to_string(layer.verdict)},
                      {"name", printable(layer.name)},
                      {"digest", or_null(layer.digest)},
                      {"diff_id", or_null(layer.diff_id)},
                      {"size", layer.size},
                      {"differences", layer.difference.count},
                      {"files", std::move(files)}});
  }
  auto configuration = nlohmann::json::array();
  for (const auto& change : comparison.configuration) {
    const auto or_null = [](const std::optional<std::string>& value) {
      return value ? nlohmann::json(printable(*value)) : nlohmann::json();
    };
    configuration.push_back({{"name", printable(change.name)},
                             {"image", or_null(change.after)},
                             {"rebuilt", or_null(change.before)}});
  }
  const auto* const result = comparison.differs()         ? "differs"
                             : comparison.unknown.empty() ? "equal"
                                                          : "unknown";
  return {{"result", result},
          {"layers", std::move(layers)},
          {"configuration", std::move(configuration)},
          {"wheels", comparison.wheels},
          {"unknown", comparison.unknown},
          {"remarks", comparison.remarks}};
}

}  // namespace autopack::verify
