#include "build/direct/assembly.hpp"

#include "base/byte_pipe.hpp"
#include "base/parallel.hpp"
#include "image/tar.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace autopack::build {

namespace {

using packaging::descriptor_of;
using packaging::LazyLayer;

/// The total size of layers made in memory; their digests are known before anything is sent.
constexpr std::uint64_t most_in_memory{16'000'000};

using Facts = std::shared_ptr<std::optional<image::LayerFacts>>;
using Recipe = std::shared_ptr<const LayerRecipe>;

/// Compresses the layer while it is read, and caches its facts even if the push fails later. Then
/// the next push finds the layer in the registry and does not send it again. Facts known before
/// must match.
registry::BlobSource compress_while_read(const Recipe& recipe,
                                         const Facts& facts,
                                         const state::LayerCache& cache) {
  return [recipe, facts, cache] {
    auto pipe = std::make_shared<BytePipe>(
        [recipe, facts, cache](const std::function<void(std::string_view)>& out) {
          std::string last;  // held back: a reader that knows the size would miss an error after it
          const auto made = recipe->write(
              [&](std::string_view bytes) {
                out(last);
                last = bytes;
              },
              *facts);
          if (*facts && (*facts)->digest != made.digest) {
            cache.clear();
            throw Error(ErrorKind::environment,
                        "the layer `" + recipe->name + "` is compressed otherwise than before")
                .cause("libdeflate was replaced since then")
                .hint("run the same command again: it makes all layers from scratch");
          }
          cache.put(recipe->key, made);
          *facts = made;
          out(last);
        });
    return [pipe](char* buffer, std::size_t size) { return pipe->read(buffer, size); };
  };
}

std::string short_name(const image::Descriptor& layer) {
  return "layer " + layer.digest.hex().substr(0, 12);
}

/// Returns a recipe that compresses an uncompressed layer of a parent.
LayerRecipe compressing(const image::Source& parent, const image::Descriptor& layer) {
  return {.name = short_name(layer),
          .key = sha256("compressed " + layer.digest.str()).hex(),
          .size = layer.size,
          .write = compressed([open = parent.open, layer](const image::LayerWriter::Take& out) {
            image::read_all(open(layer), out);
          })};
}

class LayerMaker {
public:
  explicit LayerMaker(Services& services)
      : cache_{services.layer_cache}, facts_{services.repository_facts} {}

  std::vector<RecipeLayer> make(std::vector<LayerRecipe> recipes) {
    std::vector<RecipeLayer> layers;
    layers.reserve(recipes.size());
    std::vector<RecipeLayer*> small;
    for (auto& recipe : recipes) {
      layers.push_back(begin(std::make_shared<const LayerRecipe>(std::move(recipe))));
      if (!layers.back().layer.blob.open) {
        small.push_back(&layers.back());
      }
    }
    in_parallel(small.size(), std::max(1U, std::thread::hardware_concurrency()),
                [&](std::size_t i) { make_in_memory(*small[i]->recipe, small[i]->layer); });
    return layers;
  }

private:
  /// Prepares the layer without making it.
  RecipeLayer begin(const Recipe& recipe) {
    LazyLayer layer{.name = recipe->name,
                    .facts = std::make_shared<std::optional<image::LayerFacts>>()};
    if (const auto known = cache_.get(recipe->key)) {
      *layer.facts = known;
      layer.blob = {.known = descriptor_of(*known),
                    .open = compress_while_read(recipe, layer.facts, cache_)};
    } else if (const auto reported = facts_ ? facts_->layer(recipe->key) : std::nullopt) {
      take_from_target(*reported, layer);
    } else if (recipe->size <= most_in_memory - in_memory_) {
      in_memory_ += recipe->size;
    } else {
      layer.is_fresh = true;
      layer.likely_size = recipe->is_packed ? recipe->size : 0;
      layer.blob.open = compress_while_read(recipe, layer.facts, cache_);
      layer.blob.found = [facts = layer.facts] { return descriptor_of(facts->value()); };
    }
    return {.layer = std::move(layer), .recipe = recipe};
  }

  /// Reads the bytes from the target if needed: making the layer with another release may give
  /// other bytes.
  void take_from_target(const image::LayerFacts& reported, LazyLayer& layer) const {
    *layer.facts = reported;
    layer.is_there = true;
    layer.blob = {.known = descriptor_of(reported),
                  .open = [facts = facts_, blob = descriptor_of(reported)] {
                    return facts->open_layer(blob);
                  }};
  }

  void make_in_memory(const LayerRecipe& recipe, LazyLayer& layer) const {
    std::string bytes;
    bytes.reserve(recipe.size);
    *layer.facts = recipe.write([&](std::string_view piece) { bytes += piece; }, {});
    cache_.put(recipe.key, **layer.facts);
    layer.is_fresh = true;
    layer.blob = {.known = descriptor_of(**layer.facts),
                  .open = registry::source_of(std::move(bytes))};
  }

  const state::LayerCache& cache_;
  std::shared_ptr<RepositoryFacts> facts_;
  std::uint64_t in_memory_{0};  ///< bytes of files in layers made in memory
};

/// A parent's layers, and the layers on top of them.
class Assembly : public packaging::LazyImage {
public:
  Assembly(Services& services, image::Source parent) : parent_{std::move(parent)} {
    LayerMaker maker{services};
    for (const auto& layer : parent_.manifest.layers) {
      if (image::is_plain_tar(layer)) {
        layers_.push_back(maker.make({compressing(parent_, layer)}).front().layer);
        continue;
      }
      layers_.push_back(
          {.name = short_name(layer),
           .is_parents = true,
           .blob = {.known = layer, .open = [open = parent_.open, layer] { return open(layer); }}});
    }
  }

  const std::string& name() const override { return parent_.name; }

  const std::vector<LazyLayer>& layers() const override { return layers_; }

  packaging::FinishedImage finish() const override {
    return {.manifest = parent_manifest(), .configuration = parent_.configuration};
  }

protected:
  void add(LazyLayer layer) { layers_.push_back(std::move(layer)); }

  const image::Source& parent() const { return parent_; }

  /// Returns the manifest with all its layers compressed.
  image::Manifest parent_manifest() const {
    auto manifest = parent_.manifest;
    for (std::size_t i = 0; i < manifest.layers.size(); ++i) {
      if (!layers_[i].is_parents) {
        manifest.layers[i] = descriptor_of(layers_[i].facts->value());
      }
    }
    return manifest;
  }

private:
  image::Source parent_;
  std::vector<LazyLayer> layers_{};
};

class Stack : public Assembly {
public:
  Stack(Services& services,
        image::Source parent,
        const std::vector<RecipeLayer>& layers,
        Configure configure)
      : Assembly{services, std::move(parent)},
        configure_{std::move(configure)},
        time_{image::file_time(services.environment)} {
    for (const auto& [layer, recipe] : layers) {
      recipes_.push_back(recipe);
      facts_.push_back(layer.facts);
      add(layer);
    }
  }

  packaging::FinishedImage finish() const override {
    const Parent below{.manifest = parent_manifest(),
                       .configuration = image::Configuration::parse(
                           parent().configuration, "the configuration of `" + parent().name + "`")};
    std::vector<LayerRecipe> recipes;
    std::vector<image::LayerFacts> facts;
    for (std::size_t i = 0; i < recipes_.size(); ++i) {
      recipes.push_back(*recipes_[i]);
      facts.push_back(facts_[i]->value());
    }
    return assemble(below, recipes, facts, time_, configure_);
  }

private:
  Configure configure_;
  std::int64_t time_;
  std::vector<Recipe> recipes_{};
  std::vector<Facts> facts_{};
};

}  // namespace

std::vector<RecipeLayer> make_layers(Services& services, std::vector<LayerRecipe> recipes) {
  return LayerMaker{services}.make(std::move(recipes));
}

std::vector<RecipeLayer> make_code_layers(Services& services,
                                          const plan::ReadablePlan& plan,
                                          const std::vector<std::string>& made) {
  return make_layers(services, recipes(plan, image::file_time(services.environment), made));
}

std::unique_ptr<packaging::LazyImage> stack(Services& services,
                                            image::Source parent,
                                            const std::vector<RecipeLayer>& layers,
                                            Configure configure) {
  return std::make_unique<Stack>(services, std::move(parent), layers, std::move(configure));
}

std::unique_ptr<packaging::LazyImage> put_together(Services& services,
                                                   const packaging::Packaging& work,
                                                   image::Source parent,
                                                   const std::vector<RecipeLayer>& layers) {
  return stack(services, std::move(parent), layers, configure_program(work.plan(), work.labels()));
}

image::Source compress_layers(Services& services, image::Source image) {
  return packaging::source_of(Assembly{services, std::move(image)});
}

std::vector<packaging::SentLayer> own_layers(const packaging::LazyImage& image) {
  std::vector<packaging::SentLayer> own;
  for (const auto& layer : image.layers()) {
    if (!layer.is_parents) {
      const auto known = layer.known().value();
      own.push_back({.id = known.digest.str(), .size = known.size});
    }
  }
  return own;
}

}  // namespace autopack::build
