#include "engine/held_image.hpp"

#include "base/json.hpp"
#include "engine/json_lines.hpp"
#include "image/manifest.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace autopack::engine {

namespace {

using nlohmann::json;

/// Fields of `Config` that a container has and an image does not.
constexpr std::array containers_own{
    "AttachStderr", "AttachStdin",     "AttachStdout", "Domainname", "Hostname", "Image",
    "MacAddress",   "NetworkDisabled", "OpenStdin",    "StdinOnce",  "Tty"};

/// Prefixes of steps that make a layer, even an empty one.
constexpr std::array<std::string_view, 3> file_steps{"COPY ", "ADD ", "WORKDIR "};

json answer_of(Api& api, const std::string& name, const std::string& path) {
  const auto response = api.send(
      api.request(fmt::format("look at image `{}`", name), "GET", "/images/" + name + path));
  return response.ok() ? parse_json(response.body) : json{};
}

json configuration_of(const json& image, const json& steps) {
  json configuration{{"architecture", text_at(image, "Architecture")},
                     {"os", text_at(image, "Os")},
                     {"config", image.value("Config", json::object())}};
  if (const auto variant = text_at(image, "Variant"); !variant.empty()) {
    configuration["variant"] = variant;
  }
  auto& config = configuration["config"];
  for (const auto* key : containers_own) {
    config.erase(key);
  }
  for (auto item = config.begin(); item != config.end();) {
    item = item->is_null() ? config.erase(item) : std::next(item);
  }
  const auto& layers = image.at("RootFS").at("Layers");
  configuration["rootfs"] = {{"type", "layers"}, {"diff_ids", layers}};
  configuration["history"] = history_of(steps, layers.size());
  return configuration;
}

/// Graph drivers report where they keep an image; containerd's snapshotters do not.
bool has_graph_driver(const json& image) {
  const auto driver = image.find("GraphDriver");
  return driver != image.end() && driver->is_object() && driver->contains("Data") &&
         driver->at("Data").is_object() && !image.contains("Descriptor");
}

}  // namespace

json history_of(const json& steps, std::size_t layers) {
  json history = json::array();
  std::size_t with_layer = 0;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const bool is_empty = step->value("Size", std::int64_t{0}) == 0;
    with_layer += is_empty ? 0 : 1;
    history.push_back({{"created", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                               fmt::gmtime(static_cast<std::time_t>(
                                                   step->value("Created", std::int64_t{0}))))},
                       {"created_by", text_at(*step, "CreatedBy")},
                       {"comment", text_at(*step, "Comment")}});
    if (is_empty) {
      history.back()["empty_layer"] = true;
    }
  }
  // A layer may have no bytes: among such steps, those that work on files made one.
  for (auto& step : history) {
    const auto made_by = step["created_by"].get<std::string>();
    const bool works_on_files = image::is_run_step(made_by) ||
                                std::ranges::any_of(file_steps, [&](std::string_view instruction) {
                                  return made_by.find(instruction) != std::string::npos;
                                });
    if (with_layer < layers && step.contains("empty_layer") && works_on_files) {
      step.erase("empty_layer");
      ++with_layer;
    }
  }
  return history;
}

std::optional<image::Source> held_image(Api& api, const std::string& name) {
  if (api.info().podman) {
    return std::nullopt;
  }
  const json image = answer_of(api, name, "/json");
  if (!image.is_object() || !has_graph_driver(image)) {
    return std::nullopt;
  }
  auto configuration = write_json(configuration_of(image, answer_of(api, name, "/history")));
  const auto digest = sha256(configuration);
  image::Manifest manifest{.media_type = std::string{image::media_type::oci_manifest},
                           .config = {.media_type = std::string{image::media_type::oci_config},
                                      .digest = digest,
                                      .size = configuration.size()}};
  for (const auto& id :
       image::Configuration::parse(configuration, "image `" + name + "`").diff_ids()) {
    manifest.layers.push_back(
        {.media_type = std::string{image::media_type::oci_layer}, .digest = id});
  }
  return image::Source{.name = name,
                       .digest = digest,
                       .manifest = std::move(manifest),
                       .configuration = std::move(configuration),
                       .open = [name](const image::Descriptor& layer) -> image::Reader {
                         throw Error(ErrorKind::remote,
                                     fmt::format("the engine keeps layer `{}` of `{}` to itself",
                                                 layer.digest.str(), name));
                       }};
}

}  // namespace autopack::engine
