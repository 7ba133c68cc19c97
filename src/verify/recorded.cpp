#include "verify/recorded.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "image/manifest.hpp"
#include "packaging/packaging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace autopack::verify {

namespace {

constexpr auto* revision_label = "org.opencontainers.image.revision";
constexpr auto* source_label = "org.opencontainers.image.source";
constexpr auto* dirty_label = "autopack.git.dirty";

std::optional<std::string> value_of(const std::map<std::string, std::string>& labels,
                                    const char* name) {
  const auto found = labels.find(name);
  return found == labels.end() || found->second.empty() ? std::nullopt
                                                        : std::optional{found->second};
}

/// A commit's hash; nothing else may reach git.
bool is_commit(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

Recorded recorded_in(const image::Source& image) {
  const auto configuration = image::Configuration::parse(
      image.configuration, fmt::format("the configuration of `{}`", printable(image.name)));
  const auto labels = configuration.labels();
  if (!labels.contains(packaging::key_label) && !labels.contains(packaging::rebased_label)) {
    throw Error(ErrorKind::remote,
                fmt::format("`{}` does not say how it was made", printable(image.name)))
        .cause(fmt::format("it has no label `{}`: autopack did not make it", packaging::key_label))
        .hint("`autopack diff IMAGE` compares it with the files as they are");
  }
  Recorded recorded{.platform = configuration.platform(),
                    .base_name = value_of(labels, packaging::base_name_label),
                    .time = configuration.created(),
                    .rebased_from = value_of(labels, packaging::rebased_label)};
  if (const auto digest = value_of(labels, packaging::base_digest_label)) {
    recorded.base_digest = Digest::parse(*digest);
  }
  // Only --label-git writes this one; a base may have the others.
  if (labels.contains(dirty_label)) {
    for (const auto* name : {revision_label, source_label, dirty_label}) {
      if (const auto value = value_of(labels, name)) {
        recorded.labels[name] = *value;
      }
    }
    recorded.is_dirty = value_of(labels, dirty_label) != "false";
    const auto commit = value_of(labels, revision_label);
    recorded.commit = commit && is_commit(*commit) ? commit : std::nullopt;
  }
  for (const auto& step : configuration.layer_steps()) {
    if (step.starts_with("autopack: byte code of ")) {
      recorded.has_byte_code = true;
    }
  }
  return recorded;
}

}  // namespace autopack::verify
