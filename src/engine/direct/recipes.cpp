#include "engine/direct/recipes.hpp"

#include "base/error.hpp"
#include "image/tar.hpp"

#include <fmt/format.h>

namespace autopack::engine {

namespace {

/// Raise it when the same entries make another tar.
constexpr int layer_format{1};

constexpr unsigned open_to_all{0777};

constexpr std::size_t hashed_at_once{16'384};

/// Of this machine's cache only.
std::string key_of(const plan::PlannedLayer& layer, std::int64_t file_time) {
  Sha256 hash;
  std::string text = fmt::format("{} {}\n", layer_format, file_time);
  for (const plan::LayerEntry& item : layer.entries) {
    const std::size_t length = item.path.size();
    const char letter = item.entry == nullptr ? 'd' : item.entry->letter();
    text.append(reinterpret_cast<const char*>(&length), sizeof length);
    text += letter;
    text += item.path;
    if (letter != 'd') {
      text += item.entry->content.value().view();
    }
    if (text.size() > hashed_at_once) {
      hash.update(text);
      text.clear();
    }
  }
  hash.update(text);
  return hash.finish().hex();
}

void write_directory(image::TarWriter& tar, std::string_view path) {
  tar.add_directory(path, path == "usr/app" ? open_to_all : 0755U);
}

void write_entry(image::TarWriter& tar,
                 const plan::ReadablePlan& plan,
                 const plan::LayerEntry& item) {
  if (item.entry == nullptr) {
    write_directory(tar, item.path);
    return;
  }
  const plan::ContextEntry& entry = *item.entry;
  switch (entry.type) {
    case source::EntryType::directory: write_directory(tar, item.path); break;
    case source::EntryType::symlink: tar.add_symlink(item.path, entry.link_target); break;
    case source::EntryType::file:
      tar.add_file(item.path, image::file_mode(entry.executable), entry.size,
                   [&](const image::TarWriter::Take& take) {
                     plan.trees.at(entry.tree).stream_as_planned(entry, take);
                   });
      break;
    case source::EntryType::other:
      throw Error(ErrorKind::internal,
                  fmt::format("`{}` is neither file, directory nor link", item.path));
  }
}

LayerRecipe directories(std::int64_t file_time) {
  return {.name = "directories",
          .created_by = "autopack: /usr/app and /home, open to every user",
          .key = sha256(fmt::format("directories {} {}", layer_format, file_time)).hex(),
          .write_tar = [file_time](const std::function<void(std::string_view)>& out) {
            image::TarWriter tar{out, file_time};
            tar.add_directory("home", open_to_all);
            tar.add_directory("usr");
            tar.add_directory("usr/app", open_to_all);
            tar.finish();
          }};
}

}  // namespace

std::vector<LayerRecipe> recipes(const plan::ReadablePlan& plan,
                                 std::int64_t file_time,
                                 const std::vector<std::string>& made) {
  std::vector<LayerRecipe> result;
  if (!plan.needs_dependency_image()) {
    result.push_back(directories(file_time));
  }
  for (plan::PlannedLayer& one : plan::code_layers(plan, made)) {
    const auto layer = std::make_shared<const plan::PlannedLayer>(std::move(one));
    LayerRecipe recipe{.name = layer->name,
                       .created_by = "autopack: " + layer->name,
                       .key = key_of(*layer, file_time),
                       .size = layer->size};
    recipe.write_tar = [&plan, file_time, layer](const std::function<void(std::string_view)>& out) {
      image::TarWriter tar{out, file_time};
      for (const plan::LayerEntry& item : layer->entries) {
        write_entry(tar, plan, item);
      }
      tar.finish();
    };
    result.push_back(std::move(recipe));
  }
  return result;
}

packaging::FinishedImage assemble(const Parent& parent,
                                  const plan::Plan& plan,
                                  const std::vector<LayerRecipe>& recipes,
                                  const std::vector<image::LayerFacts>& layers,
                                  const std::map<std::string, std::string>& labels,
                                  std::int64_t file_time) {
  image::Manifest manifest{.media_type = parent.manifest.media_type,
                           .layers = parent.manifest.layers};
  image::Configuration configuration = parent.configuration;
  configuration.set_created(file_time);
  const std::string layer_type{manifest.is_oci() ? image::media_type::oci_layer
                                                 : image::media_type::docker_layer};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    manifest.layers.push_back(
        {.media_type = layer_type, .digest = layers[i].digest, .size = layers[i].size});
    configuration.add_layer(layers[i], recipes[i].created_by);
  }
  configuration.set_working_directory("/usr/app");
  configuration.set_environment("HOME", "/home");
  configuration.set_environment("PYTHONDONTWRITEBYTECODE", "1");
  configuration.set_user(plan.user);
  configuration.set_entrypoint(plan.entrypoint);
  configuration.add_empty_history(fmt::format("ENTRYPOINT {}", fmt::join(plan.entrypoint, " ")));
  for (const auto& [name, value] : labels) {
    configuration.set_label(name, value);
  }
  std::string text = configuration.to_json();
  manifest.config = {
      .media_type = std::string{manifest.is_oci() ? image::media_type::oci_config
                                                  : image::media_type::docker_config},
      .digest = sha256(text),
      .size = text.size()};
  return {.manifest = std::move(manifest), .configuration = std::move(text)};
}

}  // namespace autopack::engine
