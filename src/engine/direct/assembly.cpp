#include "engine/direct/assembly.hpp"

#include "engine/build_context.hpp"
#include "image/tar.hpp"

#include <utility>

namespace autopack::engine {

namespace {

using packaging::descriptor_of;
using packaging::LazyLayer;

/// So much of layers is made in memory: their digests are known before anything is sent.
constexpr std::uint64_t most_in_memory{16'000'000};

using Facts = std::shared_ptr<std::optional<image::LayerFacts>>;
using Recipe = std::shared_ptr<const LayerRecipe>;

/// Compresses the layer while it is read, and keeps its facts: also of a push that fails later, so
/// that the next one finds the layer sent and does not send it again. What was known of it before
/// must be so.
registry::BlobSource compress_while_read(const Recipe& recipe,
                                         const Facts& facts,
                                         const state::LayerCache& cache) {
  return [recipe, facts, cache] {
    auto pipe = std::make_shared<BytePipe>(
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

std::string short_name(const image::Descriptor& layer) {
  return "layer " + layer.digest.hex().substr(0, 12);
}

/// A layer that its parent holds uncompressed, as one that is compressed here.
LayerRecipe compressing(const image::Source& parent, const image::Descriptor& layer) {
  return {
      .name = short_name(layer),
      .key = sha256("compressed " + layer.digest.str()).hex(),
      .size = layer.size,
      .write_tar = [open = parent.open, layer](const std::function<void(std::string_view)>& out) {
        image::read_all(open(layer), out);
      }};
}

/// Turns recipes into layers.
class LayerMaker {
public:
  explicit LayerMaker(Services& services) : cache_{services.layer_cache} {}

  CodeLayer make(LayerRecipe of) {
    const auto recipe = std::make_shared<const LayerRecipe>(std::move(of));
    LazyLayer layer{.name = recipe->name,
                    .facts = std::make_shared<std::optional<image::LayerFacts>>()};
    if (const auto known = cache_.get(recipe->key)) {
      *layer.facts = known;
      layer.blob = {.known = descriptor_of(*known),
                    .open = compress_while_read(recipe, layer.facts, cache_)};
    } else if (recipe->size <= most_in_memory - in_memory_) {
      make_in_memory(*recipe, layer);
    } else {
      layer.is_fresh = true;
      layer.blob = {.open = compress_while_read(recipe, layer.facts, cache_)};
    }
    return {.layer = std::move(layer), .recipe = recipe};
  }

private:
  void make_in_memory(const LayerRecipe& recipe, LazyLayer& layer) {
    in_memory_ += recipe.size;
    std::string bytes;
    image::LayerWriter writer{[&](std::string_view piece) { bytes += piece; }};
    recipe.write_tar([&](std::string_view piece) { writer.write(piece); });
    *layer.facts = writer.finish();
    cache_.put(recipe.key, **layer.facts);
    layer.is_fresh = true;
    layer.blob = {.known = descriptor_of(**layer.facts),
                  .open = registry::source_of(std::move(bytes))};
  }

  const state::LayerCache& cache_;
  std::uint64_t in_memory_{0};  ///< bytes of files in layers that were made already
};

/// A parent's layers, and what is put on top of them.
class Assembly : public packaging::LazyImage {
public:
  Assembly(Services& services, image::Source parent) : parent_{std::move(parent)} {
    LayerMaker maker{services};
    for (const auto& layer : parent_.manifest.layers) {
      if (image::is_plain_tar(layer)) {
        layers_.push_back(maker.make(compressing(parent_, layer)).layer);
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

  /// As it is once all its layers are compressed.
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

class ProjectAssembly : public Assembly {
public:
  ProjectAssembly(Services& services,
                  const packaging::Packaging& work,
                  image::Source parent,
                  std::vector<CodeLayer> layers)
      : Assembly{services, std::move(parent)},
        work_{work},
        time_{image::file_time(services.environment)} {
    for (auto& [layer, recipe] : layers) {
      recipes_.push_back(std::move(recipe));
      facts_.push_back(layer.facts);
      add(std::move(layer));
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
    return assemble(below, work_.plan(), recipes, facts, work_.labels(), time_);
  }

private:
  const packaging::Packaging& work_;
  std::int64_t time_;
  std::vector<Recipe> recipes_{};
  std::vector<Facts> facts_{};
};

}  // namespace

std::vector<CodeLayer> make_code_layers(Services& services,
                                        const plan::ReadablePlan& plan,
                                        const std::vector<std::string>& made) {
  LayerMaker maker{services};
  std::vector<CodeLayer> layers;
  for (auto& recipe : recipes(plan, image::file_time(services.environment), made)) {
    layers.push_back(maker.make(std::move(recipe)));
  }
  return layers;
}

std::unique_ptr<packaging::LazyImage> put_together(Services& services,
                                                   const packaging::Packaging& work,
                                                   image::Source parent,
                                                   std::vector<CodeLayer> layers) {
  return std::make_unique<ProjectAssembly>(services, work, std::move(parent), std::move(layers));
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

}  // namespace autopack::engine
