#include "publish/engine.hpp"

#include "base/byte_pipe.hpp"
#include "base/text.hpp"
#include "image/file_image.hpp"
#include "image/file_output.hpp"
#include "publish/publishers.hpp"
#include "publish/pushed.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::publish {

namespace {

using packaging::MadeImage;
using packaging::Packaging;

class EngineName : public packaging::Publisher {
public:
  explicit EngineName(Services& services) : services_{services} {}

  void publish(const Packaging& work, MadeImage& made) override {
    const auto& own = work.name().reference;
    if (made.in_engine && own.tag) {
      services_.docker().tag(made.image.image_id.value(), own);
    }
  }

private:
  Services& services_;
};

class EnginePush : public packaging::Publisher {
public:
  explicit EnginePush(Services& services) : services_{services} {}

  void publish(const Packaging& work, MadeImage& made) override {
    if (made.in_registry) {
      move_own_tag(work, *made.image.digest);
      report_reused(services_, made.image);
    } else {
      made.started = std::chrono::steady_clock::now();
      push(work, made);
      report_pushed(services_, made);
    }
    read_from_registry(services_, work, made);
  }

private:
  void push(const Packaging& work, MadeImage& made) {
    const auto first = push_with_engine(services_, work.name(), work.keyed_name());
    made.image.digest = first.digest;
    made.image.bytes_uploaded = first.bytes_uploaded;
    made.image.layers.clear();
    for (const auto& layer : first.layers) {
      made.image.layers.push_back({.id = layer.id, .size = layer.size, .uploaded = layer.uploaded});
    }
    if (work.name().reference.tag) {
      services_.docker().push(work.name().reference);
    }
  }

  void move_own_tag(const Packaging& work, const Digest& digest) {
    auto& docker = services_.docker();
    const auto& own = work.name().reference;
    if (!own.tag || digest_in_registry(docker, own) == digest) {
      return;
    }
    const std::string pinned = own.with_digest(digest);
    if (!docker.inspect(pinned)) {
      docker.pull(image::Reference::parse(pinned), work.plan().platform);
    }
    docker.tag(pinned, own);
    docker.push(own);
  }

  Services& services_;
};

}  // namespace

std::optional<Digest> digest_in_registry(engine::Docker& docker, const image::Reference& name) {
  try {
    return docker.resolve(name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::size_t layers_there(engine::Docker& docker,
                         const image::Source& image,
                         const std::vector<std::string>& candidates) {
  const auto diff_ids =
      image::Configuration::parse(image.configuration, "the configuration of the image").diff_ids();
  std::size_t most = 0;
  for (const auto& candidate : candidates) {
    const auto local = docker.inspect(candidate);
    // Containerd's store accepts no image without all its layers, even if it has them.
    if (local && !local->id_is_manifest) {
      const auto& layers = local->layers;
      const auto [mine, theirs] =
          std::mismatch(diff_ids.begin(), diff_ids.end(), layers.begin(), layers.end(),
                        [](const Digest& a, const std::string& b) { return a.str() == b; });
      most = std::max(most, static_cast<std::size_t>(mine - diff_ids.begin()));
    }
  }
  return most;
}

void load(engine::Docker& docker,
          const image::Source& image,
          const std::vector<std::string>& names,
          std::size_t left_out) {
  BytePipe pipe{[&](const std::function<void(std::string_view)>& out) {
    image::write_archive(image, names, left_out, out);
  }};
  docker.load([&](char* buffer, std::size_t size) { return pipe.read(buffer, size); });
}

void load_executor_image(Services& services, const plan::Plan& plan) {
  const auto files = image::FileReference::parse(plan.base.reference);
  const std::string name = image::build_name(plan.base);
  if (files && !services.docker().inspect(name)) {
    load(services.docker(), image::open_files(*files, plan.platform), {name}, 0);
  }
}

engine::PushResult push_with_engine(Services& services,
                                    const packaging::ImageName& name,
                                    const image::Reference& reference) {
  try {
    return services.docker().push(reference);
  } catch (const Error&) {
    // An engine passes on a registry's message but no code, so ask the registry itself.
    if (!make_repository_if_missing(services, name)) {
      throw;
    }
  }
  return services.docker().push(reference);
}

PublisherPtr to_engine_name(Services& services) {
  return std::make_unique<EngineName>(services);
}

PublisherPtr to_registry_by_engine(Services& services) {
  return std::make_unique<EnginePush>(services);
}

}  // namespace autopack::publish
