#include "executor/executor_image.hpp"

#include "base/text.hpp"
#include "engine/transfer.hpp"
#include "executor/layers.hpp"
#include "executor/probe.hpp"
#include "executor/programs.hpp"
#include "executor/python_facts.hpp"
#include "executor/remembered_facts.hpp"
#include "image/file_image.hpp"
#include "services/registry_image.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace autopack::executor {

namespace {

/// Facts are the same for every name of a digest; the plan shows the requested name.
image::BaseFacts under_name(image::BaseFacts facts, const std::string& reference) {
  facts.reference = reference;
  facts.vertex_prebuilt = image::is_vertex_prebuilt(reference);
  return facts;
}

/// Calls `find` on the cache of this machine, then on the cached notes of the target.
template <class Find>
std::optional<image::BaseFacts> known_facts(const Services& services, Find find) {
  if (auto facts = find(services.base_cache)) {
    return facts;
  }
  const auto remembered = remembered_bases(services);
  return remembered ? find(*remembered) : std::nullopt;
}

std::optional<image::BaseFacts> cached(const Services& services,
                                       const image::Reference& reference,
                                       const std::string& platform) {
  auto facts = known_facts(services, [&](const state::BaseCache& cache) {
    return reference.digest ? cache.by_digest(*reference.digest, platform)
                            : cache.by_reference(reference.text, platform);
  });
  return facts ? std::optional{under_name(std::move(*facts), reference.text)} : std::nullopt;
}

/// Returns the facts of `digest`, the current target of `reference`. Caches this, so that the next
/// run can begin with it even if the image was first seen under another name, or the tag moved.
/// Falls back to the notes of the target repository.
std::optional<image::BaseFacts> known_as(Services& services,
                                         const Digest& digest,
                                         image::Reference reference,
                                         const std::string& platform) {
  auto known = known_facts(services, [&](const state::BaseCache& cache) {
    auto facts = cache.by_digest(digest, platform);
    if (facts) {
      *facts = under_name(std::move(*facts), reference.text);
      if (cache.by_reference(reference.text, platform) != facts) {
        cache.store(*facts);
      }
    }
    return facts;
  });
  if (known) {
    return known;
  }
  reference.digest = digest;
  auto remembered = remembered_base(services, reference, platform);
  return remembered ? std::optional{under_name(std::move(*remembered), reference.text)}
                    : std::nullopt;
}

/// Reports why the engine's own image is used, if that may be wrong.
void report_doubt(Services& services, const image::Reference& reference, const Error& doubt) {
  const auto message = fmt::format(
      "`{}` is the image that the engine has: no registry could say whether there is a "
      "newer one",
      printable(reference.text));
  const auto reason = join(doubt.causes(), ": ");
  // An image with a short name may never have been in a registry; some engines do not know that.
  const bool was_there = reference.names_registry() || services.docker().info().reports_origin;
  if (was_there && engine::is_unreachable(reason)) {
    services.reporter->warn(Problem::warning({.message = message, .reason = non_empty(reason)}));
  } else {
    services.reporter->detail(fmt::format("{}: {}", message, reason));
  }
}

/// Returns the facts of the current target of `reference`. Does not repeat a request if the
/// registry said that it has no such image.
image::BaseFacts probe_now(Services& services,
                           const image::Reference& reference,
                           const DigestNow& now,
                           const std::string& platform) {
  auto facts = probe_image(services.docker(), reference, now.digest, platform);
  if (now.doubt) {
    report_doubt(services, reference, *now.doubt);
  }
  if (!now.doubt || !engine::is_unreachable(join(now.doubt->causes(), ": "))) {
    services.base_cache.store(facts);
  }
  return facts;
}

image::BaseFacts probe(Services& services,
                       const image::Reference& reference,
                       const std::string& platform) {
  return probe_now(services, reference, digest_now(services.docker(), reference), platform);
}

/// Returns the registry's digest for a tag, without an engine; nothing if there is no response.
std::optional<Digest> digest_without_daemon(registry::Repository& repository,
                                            Reporter& reporter,
                                            const std::string& tag) {
  try {
    const auto found = repository.head_manifest(tag);
    return found ? std::optional{found->digest} : std::nullopt;
  } catch (const Error& error) {
    reporter.detail(error.what());
    return std::nullopt;
  }
}

/// Returns the cached facts, else those in the layers, all of which it reads.
image::BaseFacts look_into(Services& services,
                           const image::Source& source,
                           const std::string& platform) {
  if (auto facts = services.base_cache.by_digest(source.digest, platform)) {
    return under_name(std::move(*facts), source.name);
  }
  const std::string name = source.name;
  check_platform(
      image::Configuration::parse(source.configuration, "the configuration of `" + name + "`")
          .platform(),
      name, platform);
  const auto tree = read_layers(services, source);
  auto facts = facts_of(source, tree);
  services.base_cache.store(facts);
  cache_python(services, facts, tree, source.manifest.layers.size());
  return facts;
}

/// Returns the facts of an image in a registry, without an engine.
image::BaseFacts facts_in_registry(Services& services,
                                   image::Reference reference,
                                   const std::string& platform) {
  const std::shared_ptr<registry::Repository> repository =
      open_repository(services, reference, registry::Access::pull);
  if (!reference.digest) {
    const auto found = repository->head_manifest(reference.tag.value_or("latest"));
    if (!found) {
      throw Error(ErrorKind::remote, fmt::format("the registry has no image `{}`", reference.text));
    }
    reference.digest = found->digest;
  }
  if (auto facts = known_as(services, *reference.digest, reference, platform)) {
    return *facts;
  }
  return look_into(services, registry_image(services, repository, reference, platform), platform);
}

/// Runs `with_daemon`; if no engine is available, asks the registry instead.
template <class WithDaemon>
image::BaseFacts or_registry(Services& services,
                             const image::Reference& reference,
                             const std::string& platform,
                             WithDaemon with_daemon) {
  try {
    return with_daemon();
  } catch (Error& no_engine) {
    if (no_engine.kind() != ErrorKind::environment) {
      throw;
    }
    services.reporter->detail(no_engine.what());
    try {
      return facts_in_registry(services, reference, platform);
    } catch (const Error& error) {
      no_engine.cause(fmt::format("without an engine, its registry was asked for `{}`: {}",
                                  printable(reference.text), error.what()));
    }
    throw;
  }
}

image::BaseFacts assumed_facts(const image::Reference& reference, const std::string& platform) {
  image::BaseFacts facts{.reference = reference.text,
                         .digest = reference.digest,
                         .platform = platform,
                         .pip = true,
                         .vertex_prebuilt = image::is_vertex_prebuilt(reference.text)};
  facts.python = facts.vertex_prebuilt ? "python3" : "python";
  return facts;
}

}  // namespace

ExecutorImage::ExecutorImage(Services& services, const packaging::Request& request)
    : services_{services},
      text_{request.executor_image},
      platform_{request.options.platform},
      engine_{request.engine} {
  if (!text_.empty() && !image::FileReference::parse(text_)) {
    seen_ = cached(services, image::Reference::parse(text_), platform_);
  }
}

void ExecutorImage::ask() {
  if (is_asked_ || !seen_ || !seen_->digest) {
    return;
  }
  is_asked_ = true;
  const auto reference = image::Reference::parse(text_);
  if (reference.digest) {
    return;
  }
  // A single attempt: without a response there is another way, and an offline engine should not
  // wait.
  const std::shared_ptr<registry::Repository> repository =
      open_repository(services_, reference, registry::Access::pull, {.attempts = 1});
  digest_ = in_background(
      [repository, reporter = services_.reporter, tag = reference.tag.value_or("latest")] {
        return digest_without_daemon(*repository, *reporter, tag);
      });
}

image::BaseFacts ExecutorImage::confirmed() {
  if (text_.empty()) {
    return {.platform = platform_};
  }
  if (const auto files = image::FileReference::parse(text_)) {
    return look_into(services_, image::open_files(*files, platform_), platform_);
  }
  ask();
  auto reference = image::Reference::parse(text_);
  const auto known = digest_.valid() ? digest_.get() : reference.digest;
  if (engine_ == packaging::Engine::direct) {
    reference.digest = known;
    return facts_in_registry(services_, reference, platform_);
  }
  const auto with_daemon = [&] {
    const auto engines_own = seen_ && !seen_->digest ? seen_->image_id : std::nullopt;
    const auto now =
        known ? DigestNow{.digest = known} : digest_now(services_.docker(), reference, engines_own);
    if (now.digest) {
      if (auto facts = known_as(services_, *now.digest, reference, platform_)) {
        services_.reporter->detail(fmt::format("`{}` is {}, known", text_, now.digest->str()));
        return *facts;
      }
    }
    return probe_now(services_, reference, now, platform_);
  };
  return engine_ == packaging::Engine::docker
             ? with_daemon()
             : or_registry(services_, reference, platform_, with_daemon);
}

namespace {

/// Returns the facts in the cache or, for an image in files, in the files; nothing if there are
/// none. Without an image, only the platform is known.
std::optional<image::BaseFacts> facts_here(Services& services,
                                           const std::string& text,
                                           const std::string& platform) {
  if (text.empty()) {
    return image::BaseFacts{.platform = platform};
  }
  if (const auto files = image::FileReference::parse(text)) {
    return look_into(services, image::open_files(*files, platform), platform);
  }
  return cached(services, image::Reference::parse(text), platform);
}

}  // namespace

image::BaseFacts facts_as_seen(Services& services,
                               const std::string& text,
                               const std::string& platform,
                               const std::optional<image::BaseFacts>& recorded) {
  if (recorded && recorded->reference == text && recorded->platform == platform) {
    return *recorded;
  }
  if (auto facts = facts_here(services, text, platform)) {
    return *facts;
  }
  const auto reference = image::Reference::parse(text);
  return or_registry(services, reference, platform,
                     [&] { return probe(services, reference, platform); });
}

image::BaseFacts facts_offline(Services& services, const packaging::Request& request) {
  const auto& text = request.executor_image;
  const auto& platform = request.options.platform;
  if (auto facts = facts_here(services, text, platform)) {
    return *facts;
  }
  auto facts = assumed_facts(image::Reference::parse(text), platform);
  facts.apt = true;
  return facts;
}

image::BaseFacts facts_or_assumed(Services& services, const packaging::Request& request) {
  const auto& text = request.executor_image;
  const auto& platform = request.options.platform;
  if (auto facts = facts_here(services, text, platform)) {
    return *facts;
  }
  const auto reference = image::Reference::parse(text);
  try {
    if (services.docker().inspect(text)) {
      return probe(services, reference, platform);
    }
  } catch (const Error& error) {
    services.reporter->detail(error.what());
  }
  auto facts = assumed_facts(reference, platform);
  services.reporter->warn(Problem::warning(
      {.message =
           fmt::format("the executor image `{}` is not known on this machine: `{}` with pip is "
                       "assumed in it, so the image's tag may become another",
                       printable(text), *facts.python)}));
  return facts;
}

packaging::ParentImage open_image(Services& services,
                                  const image::BaseFacts& facts,
                                  const std::string& platform) {
  if (const auto files = image::FileReference::parse(facts.reference)) {
    return {.image = image::open_files(*files, platform)};
  }
  auto reference = image::Reference::parse(facts.reference);
  reference.digest = facts.digest;
  return {.image = registry_image(services, reference, platform), .reference = reference};
}

}  // namespace autopack::executor
