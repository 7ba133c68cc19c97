#include "image/manifest.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace autopack::image {

using nlohmann::json;

namespace {

/// Annotations of the OCI image specification 1.1.
constexpr auto* reference_annotation = "org.opencontainers.image.ref.name";

/// Linux's limit for stacked directories (fs/overlayfs, OVL_MAX_STACK).
constexpr std::size_t most_layers{500};

/// Runs `read` on the parsed text; turns every JSON error into an Error(remote) about `what`.
template <class Read>
auto parsed(std::string_view text, const std::string& what, Read read) {
  try {
    const json document = parse_json(text);
    if (!document.is_object()) {
      throw Error(ErrorKind::remote, fmt::format("{} is not a JSON object", what));
    }
    return read(document);
  } catch (const json::exception& error) {
    throw Error(ErrorKind::remote, fmt::format("{} cannot be read", what)).cause(error.what());
  }
}

Descriptor descriptor_of(const json& value, const std::string& what) {
  const auto digest = Digest::parse(value.at("digest").get<std::string>());
  if (!digest) {
    throw Error(ErrorKind::remote, fmt::format("{} names a blob without a sha256 digest", what));
  }
  return Descriptor{
      .media_type = value.value("mediaType", ""),
      .digest = *digest,
      .size = value.at("size").get<std::uint64_t>(),
      .urls = value.value("urls", std::vector<std::string>{}),
      .annotations = value.value("annotations", std::map<std::string, std::string>{})};
}

nlohmann::ordered_json to_ordered_json(const Descriptor& descriptor) {
  nlohmann::ordered_json value{{"mediaType", descriptor.media_type},
                               {"digest", descriptor.digest.str()},
                               {"size", descriptor.size}};
  if (!descriptor.urls.empty()) {
    value["urls"] = descriptor.urls;
  }
  if (!descriptor.annotations.empty()) {
    value["annotations"] = descriptor.annotations;
  }
  return value;
}

std::optional<std::string> platform_of(const json& value) {
  std::string platform = value.value("os", "") + "/" + value.value("architecture", "");
  if (const auto variant = value.value("variant", ""); !variant.empty()) {
    platform += "/" + variant;
  }
  return platform == "/" ? std::nullopt : std::optional{std::move(platform)};
}

/// `linux/amd64` matches all its variants; `linux/arm64/v8` matches itself and an entry without a
/// variant.
bool fits(const std::optional<std::string>& offered, const std::string& wanted) {
  if (!offered) {
    return wanted.empty();
  }
  return *offered == wanted || offered->starts_with(wanted + "/") ||
         wanted.starts_with(*offered + "/");
}

}  // namespace

bool is_index(std::string_view text) {
  const json document = parse_json(text);
  return document.is_object() && document.contains("manifests");
}

Manifest parse_manifest(std::string_view text, const std::string& what) {
  return parsed(text, what, [&](const json& document) {
    if (document.value("schemaVersion", 0) != 2 || !document.contains("config")) {
      throw Error(ErrorKind::remote,
                  fmt::format("{} is not an image manifest of schema version 2", what))
          .hint("push the image again with a current docker, or use another image");
    }
    Manifest manifest{.config = descriptor_of(document.at("config"), what)};
    if (document.at("layers").size() > most_layers) {
      throw Error(ErrorKind::remote,
                  fmt::format("{} names {} layers", what, document.at("layers").size()))
          .cause(fmt::format("no engine runs an image of more than {}", most_layers));
    }
    for (const auto& layer : document.at("layers")) {
      manifest.layers.push_back(descriptor_of(layer, what));
    }
    // OCI allows a missing mediaType; the configuration's type then decides.
    const std::string fallback{manifest.config.media_type == media_type::docker_config
                                   ? media_type::docker_manifest
                                   : media_type::oci_manifest};
    manifest.media_type = document.value("mediaType", fallback);
    manifest.annotations = document.value("annotations", std::map<std::string, std::string>{});
    return manifest;
  });
}

std::vector<IndexEntry> parse_index(std::string_view text, const std::string& what) {
  return parsed(text, what, [&](const json& document) {
    std::vector<IndexEntry> entries;
    for (const auto& value : document.at("manifests")) {
      entries.push_back(
          {.manifest = descriptor_of(value, what),
           .platform =
               value.contains("platform") ? platform_of(value.at("platform")) : std::nullopt,
           .name = non_empty(
               value.value("annotations", json::object()).value(reference_annotation, ""))});
    }
    return entries;
  });
}

const IndexEntry& choose(const std::vector<IndexEntry>& entries,
                         const std::string& platform,
                         const std::string& what) {
  std::vector<std::string> offered;
  for (const auto& entry : entries) {
    if (fits(entry.platform, platform)) {
      return entry;
    }
    if (entry.platform && !entry.platform->starts_with("unknown")) {
      offered.push_back("`" + *entry.platform + "`");
    }
  }
  throw Error(ErrorKind::project, fmt::format("{} has no image for `{}`", what, platform))
      .cause(offered.empty() ? std::string{"it names no platform"}
                             : "it has " + join(offered, ", "))
      .hint("use another image, or another `--platform`");
}

std::string to_json(const Manifest& manifest) {
  nlohmann::ordered_json document{{"schemaVersion", 2},
                                  {"mediaType", manifest.media_type},
                                  {"config", to_ordered_json(manifest.config)}};
  document["layers"] = nlohmann::ordered_json::array();
  for (const auto& layer : manifest.layers) {
    document["layers"].push_back(to_ordered_json(layer));
  }
  if (!manifest.annotations.empty()) {
    document["annotations"] = manifest.annotations;
  }
  return write_json(document);
}

nlohmann::json index_entry(const IndexEntry& entry) {
  nlohmann::json written{{"mediaType", entry.manifest.media_type},
                         {"digest", entry.manifest.digest.str()},
                         {"size", entry.manifest.size}};
  if (entry.platform) {
    const auto parts = split(*entry.platform, '/');
    written["platform"] = {{"os", parts.at(0)}, {"architecture", parts.at(1)}};
    if (parts.size() > 2) {
      written["platform"]["variant"] = parts[2];
    }
  }
  return written;
}

nlohmann::json index_of(nlohmann::json entries) {
  return {{"schemaVersion", 2},
          {"mediaType", media_type::oci_index},
          {"manifests", std::move(entries)}};
}

}  // namespace autopack::image
