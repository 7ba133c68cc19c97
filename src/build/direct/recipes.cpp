#include "build/direct/recipes.hpp"

#include "base/error.hpp"
#include "image/tar.hpp"
#include "packaging/packaging.hpp"

#include <fmt/format.h>

namespace autopack::build {

namespace {

/// Increment this if the same entries give a different tar.
constexpr int layer_format{1};

constexpr unsigned open_to_all{0777};

constexpr std::size_t hashed_at_once{16'384};

/// A key for this machine's cache only.
std::string key_of(const plan::PlannedLayer& layer, std::int64_t file_time, bool is_open) {
  Sha256 hash;
  std::string text = fmt::format("{} {}{}\n", layer_format, file_time, is_open ? " open" : "");
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

void write_directory(image::TarWriter& tar, const plan::Plan& plan, std::string_view path) {
  const bool is_open =
      path == "usr/app" || (path.starts_with("usr/app/") && plan::has_open_directories(plan));
  tar.add_directory(path, is_open ? open_to_all : 0755U);
}

void write_entry(image::TarWriter& tar,
                 const plan::ReadablePlan& plan,
                 const plan::LayerEntry& item) {
  if (item.entry == nullptr) {
    write_directory(tar, plan, item.path);
    return;
  }
  const plan::ContextEntry& entry = *item.entry;
  switch (entry.type) {
    case source::EntryType::directory: write_directory(tar, plan, item.path); break;
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

}  // namespace

LayerRecipe::Write compressed(std::function<void(const image::LayerWriter::Take& out)> write_tar) {
  return [write_tar = std::move(write_tar)](const image::LayerWriter::Take& out,
                                            const std::optional<image::LayerFacts>&) {
    image::LayerWriter writer{out};
    write_tar([&](std::string_view bytes) { writer.write(bytes); });
    return writer.finish();
  };
}

LayerRecipe program_directories(std::int64_t file_time) {
  return {.name = "directories",
          .created_by = "autopack: /usr/app and /home, open to every user",
          .key = sha256(fmt::format("directories {} {}", layer_format, file_time)).hex(),
          .write = compressed([file_time](const image::LayerWriter::Take& out) {
            image::TarWriter tar{out, file_time};
            tar.add_directory("home", open_to_all);
            tar.add_directory("usr");
            tar.add_directory("usr/app", open_to_all);
            tar.finish();
          })};
}

std::vector<LayerRecipe> recipes(const plan::ReadablePlan& plan,
                                 std::int64_t file_time,
                                 const std::vector<std::string>& made) {
  std::vector<LayerRecipe> result;
  if (!plan.needs_dependency_image()) {
    result.push_back(program_directories(file_time));
  }
  for (plan::PlannedLayer& one : plan::code_layers(plan, made)) {
    const auto layer = std::make_shared<const plan::PlannedLayer>(std::move(one));
    LayerRecipe recipe{.name = layer->name,
                       .created_by = "autopack: " + layer->name,
                       .key = key_of(*layer, file_time, plan::has_open_directories(plan)),
                       .size = layer->size};
    recipe.write = compressed([&plan, file_time, layer](const image::LayerWriter::Take& out) {
      image::TarWriter tar{out, file_time};
      for (const plan::LayerEntry& item : layer->entries) {
        write_entry(tar, plan, item);
      }
      tar.finish();
    });
    result.push_back(std::move(recipe));
  }
  return result;
}

Configure configure_program(const plan::Plan& plan, std::map<std::string, std::string> labels) {
  return [&plan, labels = std::move(labels)](image::Configuration& configuration) {
    configuration.set_working_directory("/usr/app");
    configuration.set_environment("HOME", "/home");
    configuration.set_environment("PYTHONUNBUFFERED", "1");
    if (!configuration.labels().contains(packaging::wheels_label)) {
      configuration.set_environment("PYTHONDONTWRITEBYTECODE", "1");
    }
    configuration.set_user(plan.user);
    configuration.set_entrypoint(plan.entrypoint);
    configuration.add_empty_history(fmt::format("ENTRYPOINT {}", fmt::join(plan.entrypoint, " ")));
    for (const auto& [name, value] : labels) {
      configuration.set_label(name, value);
    }
  };
}

packaging::FinishedImage assemble(const Parent& parent,
                                  const std::vector<LayerRecipe>& recipes,
                                  const std::vector<image::LayerFacts>& layers,
                                  std::int64_t file_time,
                                  const Configure& configure) {
  image::Manifest manifest = parent.manifest;
  manifest.annotations.clear();
  image::Configuration configuration = parent.configuration;
  configuration.set_created(file_time);
  const std::string layer_type{manifest.is_oci() ? image::media_type::oci_layer
                                                 : image::media_type::docker_layer};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    manifest.layers.push_back({.media_type = layer_type,
                               .digest = layers[i].digest,
                               .size = layers[i].size,
                               .annotations = recipes[i].annotations});
    configuration.add_layer(layers[i], recipes[i].created_by);
  }
  configure(configuration);
  std::string text = configuration.to_json();
  manifest.config = {
      .media_type = std::string{manifest.is_oci() ? image::media_type::oci_config
                                                  : image::media_type::docker_config},
      .digest = sha256(text),
      .size = text.size()};
  return {.manifest = std::move(manifest), .configuration = std::move(text)};
}

}  // namespace autopack::build
