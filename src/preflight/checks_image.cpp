#include "base/text.hpp"
#include "image/manifest.hpp"
#include "preflight/checks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::preflight {

namespace {

constexpr std::string_view usual_platform = "linux/amd64";

/// Adds the platforms of an index, and returns the manifest of the one for Vertex AI (else the
/// first).
std::optional<registry::StoredManifest> settle(registry::Repository& repository,
                                               const registry::StoredManifest& found,
                                               ImageFacts& facts) {
  facts.is_index = true;
  const auto entries = image::parse_index(found.text, "`" + facts.name + "`");
  const image::IndexEntry* chosen = nullptr;
  const image::IndexEntry* unnamed = nullptr;  // its configuration contains the platform
  for (const auto& entry : entries) {
    if (!entry.platform) {
      unnamed = unnamed == nullptr ? &entry : unnamed;
      continue;
    }
    if (entry.platform->starts_with("unknown")) {
      continue;  // attestations
    }
    facts.platforms.push_back(*entry.platform);
    chosen = chosen == nullptr || entry.platform == usual_platform ? &entry : chosen;
  }
  chosen = chosen == nullptr ? unnamed : chosen;
  return chosen == nullptr ? std::nullopt : repository.manifest(chosen->manifest.digest.str());
}

std::optional<ImageFacts> read_facts(registry::Repository& repository,
                                     const image::Reference& image) {
  ImageFacts facts{.name = image.text};
  auto found =
      repository.manifest(image.digest ? image.digest->str() : image.tag.value_or("latest"));
  if (!found) {
    return std::nullopt;
  }
  if (image::is_index(found->text)) {
    found = settle(repository, *found, facts);
    if (!found) {
      return facts;
    }
  }
  const auto manifest = image::parse_manifest(found->text, "`" + image.text + "`");
  std::uint64_t bytes = 0;
  for (const auto& layer : manifest.layers) {
    bytes += layer.size;
  }
  if (bytes > 0) {
    facts.compressed_bytes = bytes;
  }
  const auto configuration =
      image::Configuration::parse(repository.read_blob(manifest.config), "`" + image.text + "`");
  if (facts.platforms.empty()) {
    facts.platforms = {configuration.platform()};
  }
  facts.cuda_version =
      find_cuda_version(configuration.environment(), configuration.labels(), image.text);
  return facts;
}

}  // namespace

Problems check_remote_image(const image::Reference& image,
                            const std::vector<const job::Pool*>& pools,
                            const Sources& sources) {
  const auto facts = read_facts(*sources.repository(image, registry::Access::pull), image);
  if (!facts) {
    return {failing("image", fmt::format("there is no image `{}`", printable(image.text)),
                    "its registry does not have it, so no replica could start",
                    {fmt::format("docker push {}", image.tagged()),
                     fmt::format("gcloud artifacts docker tags list {}", image.repository())})};
  }
  auto findings = check_image(*facts, pools);
  if (!has_errors(findings)) {
    findings.push_back(ok("image", fmt::format("image `{}` exists", image.text),
                          facts->compressed_bytes
                              ? std::optional{human_size(*facts->compressed_bytes)}
                              : std::nullopt));
  }
  return findings;
}

}  // namespace autopack::preflight
