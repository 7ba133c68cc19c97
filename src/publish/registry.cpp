#include "base/background.hpp"
#include "base/digest.hpp"
#include "image/manifest.hpp"
#include "image/reference.hpp"
#include "packaging/lazy_image.hpp"
#include "publish/publishers.hpp"
#include "publish/pushed.hpp"
#include "services/repositories.hpp"
#include "services/services.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

// Sends an image to a registry. Layers are sent side by side; a layer that the registry has, or
// that another repository there can lend, is not sent; a layer that is still being made is sent
// while it is made. The manifest comes last, so that a tag never names an image with missing
// layers.

namespace autopack::publish {

namespace {

/// Remembers where this machine sent large layers: a repository of each registry, by digest.
class LayerPlaces {
public:
  /// For the registry of `name`; `services` must outlive it.
  LayerPlaces(const Services& services, const image::Reference& name);

  /// Returns another repository of the registry that had `layer`, to mount it from there, or
  /// nothing. It may have lost the layer since.
  std::optional<std::string> other_with(const image::Descriptor& layer) const;

  /// Records that the repository of `name` now has the layer.
  void note(const Digest& layer, std::uint64_t size) const;

private:
  std::string key_of(const Digest& layer) const;

  const Services& services_;
  std::string host_;
  std::string path_;
};

/// Sending a smaller layer is as fast as mounting it.
constexpr std::uint64_t worth_mounting{1'000'000};

LayerPlaces::LayerPlaces(const Services& services, const image::Reference& name)
    : services_{services}, host_{name.host}, path_{name.path} {}

std::optional<std::string> LayerPlaces::other_with(const image::Descriptor& layer) const {
  if (layer.size < worth_mounting) {
    return std::nullopt;
  }
  auto path = services_.wheel_records.get(key_of(layer.digest));
  const bool is_other = path && path != path_ && !image::Reference::fault(host_ + "/" + *path);
  return is_other ? std::move(path) : std::nullopt;
}

void LayerPlaces::note(const Digest& layer, std::uint64_t size) const {
  if (size >= worth_mounting) {
    services_.wheel_records.put(key_of(layer), path_);
  }
}

std::string LayerPlaces::key_of(const Digest& layer) const {
  return fmt::format("layer {} {}", host_, layer.hex());
}

using packaging::MadeImage;
using packaging::Packaging;

/// Sending less than this is cheaper than asking whether the registry has it.
constexpr std::uint64_t not_worth_a_question{256'000};

/// Registries write a blob to disk before they answer, so other transfers can use that time. More
/// connections would need more memory: a layer that is made while it is sent takes up to 25 MB.
constexpr std::size_t connections{4};

/// Reports the transfer of all layers as one step: how many have arrived, and the total bytes.
class PushProgress {
public:
  /// A layer's name, and its size if that is known.
  struct Layer {
    std::string name{};
    std::uint64_t total{0};  ///< 0: unknown
    std::uint64_t current{0};
  };

  PushProgress(Reporter& reporter, std::vector<Layer> layers)
      : reporter_{reporter}, layers_{std::move(layers)} {}

  void advance(std::size_t index, std::uint64_t bytes) {
    if (index >= layers_.size()) {
      return;  // the configuration
    }
    auto& layer = layers_[index];
    layer.current = bytes;
    if (layer.total > 0) {
      layer.total = std::max(layer.total, bytes);  // the total was an estimate
    }
    report(StepEvent::State::progress);
  }

  void end(std::size_t index, const registry::PushedBlob& pushed) {
    if (index >= layers_.size()) {
      return;
    }
    auto& layer = layers_[index];
    // A layer that the registry already had transfers nothing.
    layer.current = pushed.uploaded ? pushed.size : 0;
    layer.total = layer.current;
    ++ended_;
    uploaded_ += pushed.uploaded ? 1 : 0;
    report(StepEvent::State::progress);
  }

  void finish() {
    if (!layers_.empty()) {
      report(uploaded_ > 0 ? StepEvent::State::completed : StepEvent::State::cached);
    }
  }

private:
  void report(StepEvent::State state) {
    StepEvent event{.id = "push", .name = name(state), .state = state};
    bool all_known = true;
    for (const auto& layer : layers_) {
      event.current += layer.current;
      event.total += layer.total;
      all_known = all_known && (layer.total > 0 || layer.current == 0);
    }
    event.total = all_known ? event.total : 0;
    reporter_.step(event);
  }

  std::string name(StepEvent::State state) const {
    if (layers_.size() == 1) {
      return "send " + layers_.front().name;
    }
    return state == StepEvent::State::completed
               ? fmt::format("send {} layers", uploaded_)
               : fmt::format("send layers, {} of {} done", ended_, layers_.size());
  }

  Reporter& reporter_;
  std::vector<Layer> layers_;
  std::size_t ended_{0};
  std::size_t uploaded_{0};
};

/// True for the answers of a registry to a manifest that names a missing blob.
bool may_lack_a_blob(const registry::Refused& error) {
  return error.status() == 400 || error.status() == 404;
}

/// The transfer of one image to one repository.
class Sending {
public:
  /// All parameters must outlive it.
  Sending(Services& services,
          registry::Repository& target,
          const image::Reference& name,
          const MadeImage& made,
          std::optional<LastPushed> last)
      : services_{services},
        target_{target},
        image_{*made.lazy},
        places_{services, name},
        last_{std::move(last)},
        sent_(image_.layers().size()) {
    if (last_) {
      for (const auto& layer : last_->manifest.layers) {
        held_.insert(layer.digest);
      }
    }
    if (made.parent && made.parent->host == name.host) {
      mount_from_ = made.parent->path;
    }
    if (mount_from_ == name.path) {
      hold_parents_layers();
    }
  }

  /// Returns the manifest, stored under `key` and by its digest.
  registry::StoredManifest run(const std::string& key) {
    Background<bool> last_is_there;
    if (last_) {
      last_is_there =
          in_background([this] { return target_.head_manifest(last_->digest.str()).has_value(); });
    }
    send_blobs();
    if (last_is_there.valid() && !last_is_there.get() && trusted_) {
      send_lost();
    }
    const packaging::FinishedImage made = finish();
    std::string text = image::to_json(made.manifest);
    const Digest digest = sha256(text);
    registry::StoredManifest stored{
        .media_type = made.manifest.media_type, .text = std::move(text), .digest = digest};
    try {
      target_.put_manifest(stored, key);
    } catch (const registry::Refused& error) {
      if (!trusted_ || !may_lack_a_blob(error)) {
        throw;
      }
      send_lost();
      target_.put_manifest(stored, key);
    }
    return stored;
  }

  /// Returns the image as sent. All layers must have been sent.
  const packaging::FinishedImage& finish() {
    if (!finished_) {
      finished_ = image_.finish();
    }
    return *finished_;
  }

  /// Records the uploads in `image`.
  void note(packaging::Image& image) const {
    image.image_id = finished_->manifest.config.digest.str();
    image.bytes_uploaded += config_->uploaded ? config_->size : 0;
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      const auto& sent = sent_[i].value();
      image.bytes_uploaded += sent.uploaded ? sent.size : 0;
      if (!image_.layers()[i].is_parents) {
        places_.note(sent.digest, sent.size);
        image.layers.push_back(
            {.id = sent.digest.str(), .size = sent.size, .uploaded = sent.uploaded});
      }
    }
  }

private:
  /// The repository has all layers of its own image.
  void hold_parents_layers() {
    for (const auto& layer : image_.layers()) {
      if (layer.is_parents) {
        held_.insert(layer.known().value().digest);
      }
    }
  }

  void send_lost() {
    services_.reporter->detail("the registry lost some blobs: sending them again");
    held_.clear();
    again_ = true;
    send_blobs();
  }

  /// Sends the layers in the order of the manifest, and also the configuration if it is already
  /// known, which saves a round trip.
  void send_blobs() {
    std::vector<std::size_t> places;
    std::vector<registry::Blob> blobs;
    std::vector<PushProgress::Layer> steps;
    bool all_known = true;
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      const packaging::LazyLayer& layer = image_.layers()[i];
      const auto known = layer.known();
      all_known = all_known && known;
      if (known && (held_.contains(known->digest) || (layer.is_there && !again_))) {
        sent_[i] = registry::PushedBlob{.digest = known->digest, .size = known->size};
        trusted_ = true;
        continue;
      }
      places.push_back(i);
      blobs.push_back(blob_of(layer));
      steps.push_back({.name = layer.name, .total = known ? known->size : layer.likely_size});
    }
    if (all_known) {
      blobs.push_back(configuration());
    }
    PushProgress progress{*services_.reporter, std::move(steps)};
    auto pushed = registry::push_blobs(
        target_, blobs,
        [&](std::size_t index, std::uint64_t bytes) { progress.advance(index, bytes); },
        connections,
        [&](std::size_t index, const registry::PushedBlob& blob) { progress.end(index, blob); });
    progress.finish();
    for (std::size_t i = 0; i < places.size(); ++i) {
      merge(sent_[places[i]], pushed[i]);
    }
    merge(config_, all_known ? pushed.back() : target_.push_blob(configuration(), {}));
  }

  /// A blob that was sent counts as sent, even if it is found there on a second try.
  static void merge(std::optional<registry::PushedBlob>& sum, registry::PushedBlob next) {
    next.uploaded = next.uploaded || (sum && sum->uploaded);
    sum = std::move(next);
  }

  registry::Blob blob_of(const packaging::LazyLayer& layer) const {
    registry::Blob blob = layer.blob;
    blob.known = layer.known();
    if (layer.is_parents) {
      blob.mount_from = mount_from_;
    } else if (blob.known && !layer.is_fresh) {
      blob.mount_from = places_.other_with(*blob.known);
    }
    blob.is_new =
        !again_ && layer.is_fresh && blob.known && blob.known->size <= not_worth_a_question;
    return blob;
  }

  registry::Blob configuration() {
    const packaging::FinishedImage& made = finish();
    return {.known = made.manifest.config,
            .open = registry::source_of(made.configuration),
            .is_new = !again_ && made.manifest.config.size <= not_worth_a_question};
  }

  Services& services_;
  registry::Repository& target_;
  const packaging::LazyImage& image_;
  LayerPlaces places_;
  std::optional<LastPushed> last_;
  std::optional<std::string> mount_from_{};  ///< absent: the parent is in another registry
  std::set<Digest> held_{};
  bool trusted_{false};  ///< some of held_ was not checked
  bool again_{false};
  /// of layers; absent until the layer is there
  std::vector<std::optional<registry::PushedBlob>> sent_;
  std::optional<registry::PushedBlob> config_{};
  std::optional<packaging::FinishedImage> finished_{};
};

class RegistryPublisher : public packaging::Publisher {
public:
  RegistryPublisher(Services& services, std::shared_ptr<Target> target)
      : services_{services}, target_{std::move(target)} {}

  void publish(const Packaging& work, MadeImage& made) override {
    if (made.in_registry) {
      if (const auto& manifest = target_->to_be_tagged()) {
        target_->repository().put_manifest(*manifest, work.name().reference.tag);
      }
      report_reused(services_, made.image);
    } else {
      send(work, made);
      report_pushed(services_, made);
    }
    read_from_registry(services_, work, made);
  }

private:
  void send(const Packaging& work, MadeImage& made) {
    auto& repository = target_->repository();
    const auto& name = work.name().reference;
    Sending sending{services_, repository, name, made, std::move(target_->contents().last)};
    const auto stored = sending.run(made.image.tag);
    Background<void> moving;
    if (name.tag && name.tag != made.image.tag) {
      // The user's tag moves last, when everything that the manifest names is there.
      moving = in_background([&] { repository.put_manifest(stored, name.tag); });
    }
    services_.blob_cache.put(stored.text);
    services_.pushed_images.put(name.repository(), stored.digest);
    if (moving.valid()) {
      moving.get();
    }
    made.image.digest = stored.digest;
    sending.note(made.image);
  }

  Services& services_;
  std::shared_ptr<Target> target_;
};

/// Gives the user's tag to an image that is already in its registry.
class RegistryTag : public packaging::Publisher {
public:
  explicit RegistryTag(Services& services) : services_{services} {}

  void publish(const Packaging& work, MadeImage& made) override {
    const auto& own = work.name().reference;
    if (own.tag && own.tag != made.image.tag) {
      move(work, made.image.digest.value());
    }
    if (made.image.outcome.reused) {
      report_reused(services_, made.image);
    } else {
      services_.reporter->done("Pushed", made.image.uri());
    }
    read_from_registry(services_, work, made);
  }

private:
  void move(const Packaging& work, const Digest& digest) const {
    const auto repository = open_target(services_, work.name());
    const auto& tag = work.name().reference.tag;
    const auto now = repository->head_manifest(*tag);
    if (now && now->digest == digest) {
      return;
    }
    const auto manifest = repository->manifest(digest.str());
    if (!manifest) {
      throw Error(ErrorKind::remote, fmt::format("the registry lost `{}@{}`",
                                                 work.name().reference.repository(), digest.str()));
    }
    repository->put_manifest(*manifest, tag);
  }

  Services& services_;
};

}  // namespace

Digest push_dependencies(Services& services,
                         const std::shared_ptr<Target>& target,
                         const Packaging& work,
                         MadeImage& made) {
  Sending sending{services, target->repository(), work.name().reference, made,
                  target->contents().last};
  const auto stored = sending.run(work.dependency_tag());
  services.blob_cache.put(stored.text);
  // The code will be put on top of it.
  services.blob_cache.put(sending.finish().configuration);
  sending.note(made.image);
  return stored.digest;
}

PublisherPtr to_registry_tag(Services& services) {
  return std::make_unique<RegistryTag>(services);
}

PublisherPtr to_registry(Services& services, std::shared_ptr<Target> target) {
  return std::make_unique<RegistryPublisher>(services, std::move(target));
}

}  // namespace autopack::publish
