#include "base/text.hpp"
#include "pipeline/age.hpp"
#include "pipeline/reasons.hpp"
#include "pipeline/registries.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace autopack::pipeline {

namespace {

/// None also when the registry does not answer: the push will tell why.
std::optional<Digest> digest_in_registry(engine::Docker& docker, const image::Reference& name) {
  try {
    return docker.resolve(name);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) {
      throw;
    }
    return std::nullopt;
  }
}

}  // namespace

std::optional<Image> pushed_before(Services& services,
                                   const PackageRequest& request,
                                   const Scanned& scanned,
                                   const plan::Plan& plan,
                                   const Reasons& reasons,
                                   const ImageName& name) {
  if (!key_is_whole(plan)) {
    return std::nullopt;
  }
  auto& docker = services.docker();
  const image::Reference keyed = name.keyed(plan);
  Image image{.repository = keyed.repository(),
              .tag = keyed.tag,
              .outcome = reused(reasons),
              .dependencies = reused_dependencies(reasons, plan)};
  image.digest = digest_in_registry(docker, keyed);
  if (!image.digest) {
    return std::nullopt;
  }
  if (const AgeLimit limit{request, scanned, plan}; limit.applies()) {
    const auto repository = open_repository(services, keyed, registry::Access::pull);
    const auto times = run_times(services, *repository, *image.digest, plan.platform);
    if (limit.is_past(times, false, std::time(nullptr))) {
      return std::nullopt;
    }
  }
  if (!name.reference.tag.empty() && digest_in_registry(docker, name.reference) != image.digest) {
    const std::string pinned = keyed.with_digest(*image.digest);
    if (!docker.inspect(pinned)) {
      docker.pull(image::Reference::parse(pinned), plan.platform);
    }
    docker.tag(pinned, name.reference);
    docker.push(name.reference);
  }
  services.reporter->done("Reused", fmt::format("{}: {}", image.uri(), image.outcome.reason));
  return image;
}

void push(Services& services, const ImageName& name, Image& image) {
  const auto start = std::chrono::steady_clock::now();
  const auto first =
      push_with_engine(services, name, image::Reference::parse(name.reference.with_tag(image.tag)));
  image.digest = first.digest;
  image.layers = first.layers;
  image.bytes_uploaded = first.bytes_uploaded;
  if (!name.reference.tag.empty()) {
    services.docker().push(name.reference);
  }
  services.reporter->done(
      "Pushed",
      fmt::format("{} in {:.1f} s, {} uploaded", image.uri(),
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                  human_size(image.bytes_uploaded)));
}

}  // namespace autopack::pipeline
