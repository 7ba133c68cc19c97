#include "pipeline/assembly.hpp"

#include "engine/build_context.hpp"
#include "image/tar.hpp"
#include "pipeline/package.hpp"

#include <iterator>

namespace autopack::pipeline {

namespace {

/// So much of layers is made in memory: their digests are known before anything is sent.
constexpr std::uint64_t most_in_memory{16'000'000};

using Facts = std::shared_ptr<std::optional<image::LayerFacts>>;
using Recipe = std::shared_ptr<const engine::LayerRecipe>;

/// Compresses the layer while it is read, and keeps its facts: also of a push that fails later, so
/// that the next one finds the layer sent and does not send it again. What was known of it before
/// must be so.
registry::BlobSource streamed(const Recipe& recipe,
                              const Facts& facts,
                              const state::LayerCache& cache) {
  return [recipe, facts, cache] {
    auto pipe = std::make_shared<engine::BytePipe>(
        [recipe, facts, cache](const std::function<void(std::string_view)>& out) {
          std::string last;  // held back: whoever knows the size reads no error behind it
          image::LayerWriter writer{[&](std::string_view bytes) {
            out(last);
            last = bytes;
          }};
          recipe->write_tar([&](std::string_view bytes) { writer.write(bytes); });
          const auto made = writer.finish();
          if (*facts && (*facts)->digest != made.digest) {
            cache.clear();
            throw Error(ErrorKind::environment,
                        "the layer `" + recipe->name + "` is compressed otherwise than before")
                .cause("libdeflate was replaced since then")
                .hint("run the same command again: all layers are made anew then");
          }
          cache.put(recipe->key, made);
          *facts = made;
          out(last);
        });
    return [pipe](char* buffer, std::size_t size) { return pipe->read(buffer, size); };
  };
}

image::Descriptor descriptor_of(const image::LayerFacts& facts) {
  return {.media_type = std::string{image::media_type::oci_layer},
          .digest = facts.digest,
          .size = facts.size};
}

std::string short_name(const image::Descriptor& layer) {
  return "layer " + layer.digest.hex().substr(0, 12);
}

/// A layer that its parent holds uncompressed, as one that is compressed here.
engine::LayerRecipe compressed(const image::Source& parent, const image::Descriptor& layer) {
  return {
      .name = short_name(layer),
      .key = sha256("compressed " + layer.digest.str()).hex(),
      .size = layer.size,
      .write_tar = [open = parent.open, layer](const std::function<void(std::string_view)>& out) {
        image::read_all(open(layer), out);
      }};
}

}  // namespace

std::optional<image::Descriptor> Assembly::Layer::known() const {
  if (blob.known || !facts || !*facts) {
    return blob.known;
  }
  return descriptor_of(**facts);
}

namespace {

/// Turns recipes into layers.
class LayerMaker {
public:
  explicit LayerMaker(Services& services) : services_{services} {}

  Assembly::Layer make(engine::LayerRecipe made);

private:
  Services& services_;
  std::uint64_t in_memory_{0};  ///< bytes of files in layers that were made already
};

Assembly::Layer LayerMaker::make(engine::LayerRecipe made) {
  Assembly::Layer layer{.name = made.name,
                        .recipe = std::make_shared<const engine::LayerRecipe>(std::move(made)),
                        .facts = std::make_shared<std::optional<image::LayerFacts>>()};
  const auto& recipe = *layer.recipe;
  if (const auto known = services_.layer_cache.get(recipe.key)) {
    *layer.facts = known;
    layer.from_cache = true;
    layer.blob = {.known = descriptor_of(*known),
                  .open = streamed(layer.recipe, layer.facts, services_.layer_cache)};
  } else if (recipe.size <= most_in_memory - in_memory_) {
    in_memory_ += recipe.size;
    std::string bytes;
    image::LayerWriter writer{[&](std::string_view piece) { bytes += piece; }};
    recipe.write_tar([&](std::string_view piece) { writer.write(piece); });
    *layer.facts = writer.finish();
    services_.layer_cache.put(recipe.key, **layer.facts);
    layer.blob = {.known = descriptor_of(**layer.facts),
                  .open = registry::source_of(std::move(bytes))};
  } else {
    layer.blob = {.open = streamed(layer.recipe, layer.facts, services_.layer_cache)};
  }
  return layer;
}

}  // namespace

std::vector<Assembly::Layer> Assembly::make_layers(Services& services,
                                                   const plan::Plan& plan,
                                                   const std::vector<std::string>& made) {
  LayerMaker maker{services};
  std::vector<Layer> layers;
  for (auto& recipe : engine::recipes(plan, image::file_time(services.environment), made)) {
    layers.push_back(maker.make(std::move(recipe)));
  }
  return layers;
}

Assembly::Assembly(Services& services, image::Source image)
    : Assembly{services, nullptr, std::move(image)} {}

Assembly::Assembly(Services& services, const plan::Plan* plan, image::Source parent)
    : services_{services},
      plan_{plan},
      parent_{std::move(parent)},
      time_{image::file_time(services.environment)} {
  add_parents();
}

Assembly::Assembly(Services& services,
                   const plan::Plan& plan,
                   image::Source parent,
                   std::vector<Layer> layers)
    : Assembly{services, &plan, std::move(parent)} {
  layers_.insert(layers_.end(), std::make_move_iterator(layers.begin()),
                 std::make_move_iterator(layers.end()));
}

void Assembly::add_parents() {
  LayerMaker maker{services_};
  for (const auto& layer : parent_.manifest.layers) {
    if (image::is_plain_tar(layer)) {
      layers_.push_back(maker.make(compressed(parent_, layer)));
      continue;
    }
    layers_.push_back(
        {.name = short_name(layer),
         .is_parents = true,
         .blob = {.known = layer, .open = [open = parent_.open, layer] { return open(layer); }}});
  }
}

engine::Assembled Assembly::finish() const {
  engine::Parent parent{.manifest = parent_.manifest,
                        .configuration = image::Configuration::parse(
                            parent_.configuration, "the configuration of `" + parent_.name + "`")};
  std::vector<engine::LayerRecipe> recipes;
  std::vector<image::LayerFacts> facts;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    if (i >= parent.manifest.layers.size()) {
      recipes.push_back(*layer.recipe);
      facts.push_back(layer.facts->value());
    } else if (layer.recipe) {
      parent.manifest.layers[i] = descriptor_of(layer.facts->value());
    }
  }
  if (plan_ == nullptr) {
    return {.manifest = std::move(parent.manifest), .configuration = parent_.configuration};
  }
  return engine::assemble(parent, *plan_, recipes, facts, labels_of(*plan_), time_);
}

image::Source Assembly::source() {
  for (Layer& layer : layers_) {
    if (!layer.blob.known) {
      image::read_all(layer.blob.open(), [](std::string_view) {});
      layer.blob.known = descriptor_of(layer.facts->value());
    }
  }
  const auto made = finish();
  std::map<Digest, registry::BlobSource> openers;
  for (const Layer& layer : layers_) {
    openers[layer.blob.known->digest] = layer.blob.open;
  }
  return {.name = parent_.name,
          .digest = sha256(image::to_json(made.manifest)),
          .manifest = made.manifest,
          .configuration = made.configuration,
          .open = [openers = std::move(openers)](const image::Descriptor& layer) {
            return openers.at(layer.digest)();
          }};
}

}  // namespace autopack::pipeline
