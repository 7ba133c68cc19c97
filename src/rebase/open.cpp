#include "base/error.hpp"
#include "base/text.hpp"
#include "executor/executor_image.hpp"
#include "image/file_image.hpp"
#include "image/file_reference.hpp"
#include "image/manifest.hpp"
#include "packaging/packaging.hpp"
#include "packaging/request.hpp"
#include "rebase/parts.hpp"
#include "registry/client.hpp"
#include "services/registry_image.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

namespace autopack::rebase {

Opened open(Services& services, const std::string& text, const std::string& platform) {
  if (const auto files = image::FileReference::parse(text)) {
    return {.source = image::open_files(*files, platform), .text = text};
  }
  auto reference = image::Reference::parse(text);
  auto source = named_image(services, reference, platform);
  reference.digest = source.digest;
  return {.source = std::move(source), .text = text, .reference = std::move(reference)};
}

std::vector<std::string> platforms_of(Services& services, const image::Reference& reference) {
  const auto repository = open_repository(services, reference, registry::Access::pull);
  const auto stored = repository->manifest(reference.digest.value().str());
  std::vector<std::string> platforms;
  if (stored && image::is_index(stored->text)) {
    for (const auto& entry : image::parse_index(stored->text, reference.text)) {
      // BuildKit's attestations are manifests of an unknown platform.
      if (entry.platform && !entry.platform->starts_with("unknown")) {
        platforms.push_back(*entry.platform);
      }
    }
  }
  return platforms;
}

RecordedBase recorded_base(const image::Source& image) {
  const auto labels =
      image::Configuration::parse(image.configuration, "the configuration of `" + image.name + "`")
          .labels();
  const auto found = labels.find(packaging::base_digest_label);
  const auto digest = found == labels.end() ? std::nullopt : Digest::parse(found->second);
  if (!digest) {
    throw Error(ErrorKind::remote,
                fmt::format("`{}` does not say on which base it was built", printable(image.name)))
        .cause(fmt::format("its label `{}` is {}", packaging::base_digest_label,
                           found == labels.end() ? "absent" : "not a digest"))
        .hint("`autopack build` records the base, if a registry or a file has it");
  }
  const auto name = labels.find(packaging::base_name_label);
  return {.name = name == labels.end() || name->second.empty() ? std::nullopt
                                                               : std::optional{name->second},
          .digest = *digest};
}

BaseSide survey(Services& services, const Opened& base, const std::string& platform) {
  packaging::Request request{.executor_image = base.reference
                                                   ? base.reference->with_digest(base.source.digest)
                                                   : base.text,
                             .engine = packaging::Engine::direct};
  request.options.platform = platform;
  BaseSide side{.facts = executor::ExecutorImage{services, request}.confirmed()};
  if (side.facts.python) {
    side.python = executor::python_facts(services, side.facts, executor::ImagePlaces::layers);
  }
  return side;
}

bool is_same_image(const image::Source& one, const image::Source& other) {
  return one.manifest.config.digest == other.manifest.config.digest;
}

}  // namespace autopack::rebase
