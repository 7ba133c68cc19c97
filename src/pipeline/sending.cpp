#include "pipeline/sending.hpp"

#include "base/background.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace autopack::pipeline {

namespace {

/// Asking for less than this costs more than sending it.
constexpr std::uint64_t not_worth_a_question{256'000};

constexpr std::size_t connections{4};
/// Layers that are compressed while they are sent need memory, and use all cores each.
constexpr std::size_t connections_for_streams{2};

class PushProgress {
public:
  PushProgress(Reporter& reporter, std::vector<StepEvent> steps)
      : reporter_{reporter}, steps_{std::move(steps)} {}

  void operator()(std::size_t index, std::uint64_t bytes) {
    if (index >= steps_.size()) {
      return;  // the configuration
    }
    StepEvent& step = steps_[index];
    step.state =
        step.current == 0 && bytes == 0 ? StepEvent::State::started : StepEvent::State::progress;
    step.current = bytes;
    reporter_.step(step);
  }

  void end(const std::vector<registry::PushedBlob>& pushed) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      steps_[i].state = pushed[i].uploaded ? StepEvent::State::completed : StepEvent::State::cached;
      reporter_.step(steps_[i]);
    }
  }

private:
  Reporter& reporter_;
  std::vector<StepEvent> steps_;
};

/// True for what a registry says of a manifest that names a blob it does not have.
bool may_lack_a_blob(const registry::Refused& error) {
  return error.status() == 400 || error.status() == 404;
}

class Sending {
public:
  Sending(Services& services,
          registry::Repository& target,
          const ImageName& name,
          const Assembly& assembly,
          const Parent& parent,
          std::optional<LastPushed> last)
      : services_{services},
        target_{target},
        assembly_{assembly},
        last_{std::move(last)},
        sent_(assembly.layers().size()) {
    if (last_) {
      hold(last_->manifest);
    }
    if (parent.reference && parent.reference->host == name.reference.host) {
      mount_from_ = parent.reference->path;
    }
    if (mount_from_ == name.reference.path) {
      hold(parent.image.manifest);
    }
  }

  /// The manifest, stored under `key` and by its digest.
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
    const engine::Assembled made = finish();
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

  /// Fills in what was sent.
  void tell(Image& image) const {
    image.image_id = made_->manifest.config.digest.str();
    image.bytes_uploaded = config_.uploaded ? config_.size : 0;
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      image.bytes_uploaded += sent_[i].uploaded ? sent_[i].size : 0;
      if (!assembly_.layers()[i].is_parents) {
        image.layers.push_back(
            {.id = sent_[i].digest.str(), .size = sent_[i].size, .uploaded = sent_[i].uploaded});
      }
    }
  }

private:
  /// The layers of `image` are there.
  void hold(const image::Manifest& image) {
    for (const auto& layer : image.layers) {
      held_.insert(layer.digest);
    }
  }

  void send_lost() {
    services_.reporter->detail("the registry lost what it had: sending what is missing");
    held_.clear();
    again_ = true;
    send_blobs();
  }

  const engine::Assembled& finish() {
    if (!made_) {
      made_ = assembly_.finish();
    }
    return *made_;
  }

  /// Layers in the order of the manifest, and the configuration with them when it is known yet:
  /// that saves a round trip.
  void send_blobs() {
    std::vector<std::size_t> places;
    std::vector<registry::Blob> blobs;
    std::vector<StepEvent> steps;
    bool all_known = true;
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      const Assembly::Layer& layer = assembly_.layers()[i];
      const auto known = layer.known();
      all_known = all_known && known;
      if (known && held_.contains(known->digest)) {
        sent_[i] = {.digest = known->digest, .size = known->size};
        trusted_ = true;
        continue;
      }
      places.push_back(i);
      blobs.push_back(blob_of(layer));
      steps.push_back({.id = layer.name, .name = layer.name, .total = known ? known->size : 0});
    }
    if (all_known) {
      blobs.push_back(configuration());
    }
    PushProgress progress{*services_.reporter, std::move(steps)};
    auto pushed = registry::push_blobs(
        target_, blobs, [&](std::size_t index, std::uint64_t bytes) { progress(index, bytes); },
        all_known ? connections : connections_for_streams);
    progress.end(pushed);
    for (std::size_t i = 0; i < places.size(); ++i) {
      merge(sent_[places[i]], pushed[i]);
    }
    merge(config_, all_known ? pushed.back() : target_.push_blob(configuration(), {}));
  }

  /// Sent once is sent, though it is there when asked for again.
  static void merge(registry::PushedBlob& sum, registry::PushedBlob next) {
    next.uploaded = next.uploaded || sum.uploaded;
    sum = std::move(next);
  }

  registry::Blob blob_of(const Assembly::Layer& layer) const {
    registry::Blob blob = layer.blob;
    blob.known = layer.known();
    blob.mount_from = layer.is_parents ? mount_from_ : "";
    blob.is_new = !again_ && layer.recipe && !layer.from_cache && blob.known &&
                  blob.known->size <= not_worth_a_question;
    return blob;
  }

  registry::Blob configuration() {
    const engine::Assembled& made = finish();
    return {.known = made.manifest.config,
            .open = registry::source_of(made.configuration),
            .is_new = !again_ && made.manifest.config.size <= not_worth_a_question};
  }

  Services& services_;
  registry::Repository& target_;
  const Assembly& assembly_;
  std::optional<LastPushed> last_;
  std::string mount_from_{};  ///< empty: the parent is in another registry
  std::set<Digest> held_{};
  bool trusted_{false};  ///< something of held_ was not asked for
  bool again_{false};
  std::vector<registry::PushedBlob> sent_;
  registry::PushedBlob config_{};
  std::optional<engine::Assembled> made_{};
};

}  // namespace

void send(Services& services,
          registry::Repository& target,
          const ImageName& name,
          const Assembly& assembly,
          const Parent& parent,
          std::optional<LastPushed> last,
          Image& image) {
  Sending sending{services, target, name, assembly, parent, std::move(last)};
  const auto stored = sending.run(image.tag);
  const std::string& own = name.reference.tag;
  Background<void> moving;
  if (!own.empty() && own != image.tag) {
    // Last: everything it names is there.
    moving = in_background([&] { target.put_manifest(stored, own); });
  }
  services.blob_cache.put(stored.text);
  services.pushed_images.put(name.reference.repository(), stored.digest);
  if (moving.valid()) {
    moving.get();
  }
  image.digest = stored.digest;
  sending.tell(image);
}

}  // namespace autopack::pipeline
