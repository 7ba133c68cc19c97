#include "pipeline/base.hpp"

#include "base/text.hpp"
#include "pipeline/direct.hpp"

#include <fmt/format.h>

namespace autopack::pipeline {

namespace {

/// Facts are the same for every name of a digest; the plan shows the name that was asked for.
image::BaseFacts named(image::BaseFacts facts, const std::string& reference) {
  facts.reference = reference;
  facts.vertex_prebuilt = image::is_vertex_prebuilt(reference);
  return facts;
}

image::BaseFacts probe(Services& services,
                       const image::Reference& reference,
                       const std::string& platform) {
  auto facts = engine::probe_base(services.docker(), reference, platform);
  services.base_cache.store(facts);
  return facts;
}

std::optional<image::BaseFacts> cached(const Services& services,
                                       const image::Reference& reference,
                                       const std::string& platform) {
  auto facts = reference.digest ? services.base_cache.by_digest(*reference.digest, platform)
                                : services.base_cache.by_reference(reference.text, platform);
  return facts ? std::optional{named(std::move(*facts), reference.text)} : std::nullopt;
}

/// The digest the registry has now; none when no registry answers for the name, so that an image of
/// the daemon alone still works.
std::optional<Digest> digest_now(engine::Docker& docker, const image::Reference& reference) {
  if (reference.digest) {
    return reference.digest;
  }
  const auto local = docker.inspect(reference.text);
  if (local && local->repository_digests.empty()) {
    return std::nullopt;
  }
  try {
    return docker.resolve(reference);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::remote) {
      throw;
    }
    return std::nullopt;
  }
}

/// The digest of a base that came from a registry before, asked for there without a daemon; none
/// when the base is new or the registry does not answer.
std::optional<Digest> digest_without_daemon(Services& services,
                                            const image::Reference& reference,
                                            const std::string& platform) {
  if (reference.digest) {
    return reference.digest;
  }
  const auto seen = services.base_cache.by_reference(reference.text, platform);
  if (!seen || !seen->digest) {
    return std::nullopt;
  }
  try {
    const auto found = open_repository(services, reference, registry::Access::pull)
                           ->head_manifest(reference.tag.empty() ? "latest" : reference.tag);
    return found ? std::optional{found->digest} : std::nullopt;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) {
      throw;
    }
    services.reporter->detail(error.what());
    return std::nullopt;
  }
}

image::BaseFacts assumed(const image::Reference& reference, const std::string& platform) {
  image::BaseFacts facts{.reference = reference.text,
                         .digest = reference.digest,
                         .platform = platform,
                         .pip = true,
                         .vertex_prebuilt = image::is_vertex_prebuilt(reference.text)};
  facts.python = facts.vertex_prebuilt ? "python3" : "python";
  return facts;
}

}  // namespace

image::BaseFacts base_now(Services& services,
                          const std::string& text,
                          const std::string& platform) {
  const auto reference = image::Reference::parse(text);
  auto digest = digest_without_daemon(services, reference, platform);
  if (!digest) {
    digest = digest_now(services.docker(), reference);
  }
  if (digest) {
    if (auto facts = services.base_cache.by_digest(*digest, platform)) {
      services.reporter->detail(fmt::format("`{}` is {}, known", text, digest->str()));
      return named(std::move(*facts), text);
    }
  }
  return probe(services, reference, platform);
}

image::BaseFacts base_as_seen(Services& services,
                              const std::string& text,
                              const std::string& platform,
                              const std::optional<image::BaseFacts>& recorded) {
  const auto reference = image::Reference::parse(text);
  if (recorded && recorded->reference == text && recorded->platform == platform) {
    return *recorded;
  }
  if (auto facts = cached(services, reference, platform)) {
    return *facts;
  }
  return probe(services, reference, platform);
}

image::BaseFacts base_or_assumed(Services& services,
                                 const std::string& text,
                                 const std::string& platform) {
  const auto reference = image::Reference::parse(text);
  if (auto facts = cached(services, reference, platform)) {
    return *facts;
  }
  try {
    if (services.docker().inspect(text)) {
      return probe(services, reference, platform);
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) {
      throw;
    }
    services.reporter->detail(error.what());
  }
  auto facts = assumed(reference, platform);
  services.reporter->warn(
      {.severity = Problem::Severity::warning,
       .message =
           fmt::format("the executor image `{}` is not known on this machine: `{}` with pip is "
                       "assumed in it, so the image's tag may become another",
                       printable(text), facts.python)});
  return facts;
}

}  // namespace autopack::pipeline
