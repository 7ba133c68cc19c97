#include "registry/referrers.hpp"

#include "base/error.hpp"
#include "base/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace autopack::registry {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// The configuration of a manifest that has none (OCI image specification 1.1, guidance for
/// artifacts).
constexpr auto* empty_type = "application/vnd.oci.empty.v1+json";
constexpr auto* empty_bytes = "{}";

/// Two writers of the tag's index overwrite each other; so often the loser tries again.
constexpr int most_tries{5};

std::string fallback_tag(const Digest& subject) {
  return "sha256-" + subject.hex();
}

Blob blob_of(const std::string& bytes, const std::string& media_type) {
  Blob blob{.known = image::Descriptor{
                .media_type = media_type, .digest = sha256(bytes), .size = bytes.size()}};
  blob.open = registry::source_of(bytes);
  return blob;
}

ordered_json as_json(const image::Descriptor& blob) {
  return {{"mediaType", blob.media_type}, {"digest", blob.digest.str()}, {"size", blob.size}};
}

/// Returns the text of the manifest of `attachment`.
std::string manifest_text(const image::Descriptor& subject, const Attachment& attachment) {
  const Blob empty = blob_of(empty_bytes, empty_type);
  const Blob document = blob_of(attachment.bytes, attachment.media_type);
  ordered_json manifest{{"schemaVersion", 2},
                        {"mediaType", image::media_type::oci_manifest},
                        {"artifactType", attachment.artifact_type},
                        {"config", as_json(*empty.known)},
                        {"layers", ordered_json::array({as_json(*document.known)})},
                        {"subject", as_json(subject)}};
  if (!attachment.annotations.empty()) {
    manifest["annotations"] = attachment.annotations;
  }
  return write_json(manifest);
}

json entry_of(const Referrer& referrer) {
  json entry{{"mediaType", referrer.manifest.media_type},
             {"digest", referrer.manifest.digest.str()},
             {"size", referrer.manifest.size}};
  if (!referrer.artifact_type.empty()) {
    entry["artifactType"] = referrer.artifact_type;
  }
  if (!referrer.manifest.annotations.empty()) {
    entry["annotations"] = referrer.manifest.annotations;
  }
  return entry;
}

std::vector<Referrer> listed_by_tag(Repository& repository, const Digest& subject) {
  const auto tag = fallback_tag(subject);
  const auto stored = repository.manifest(tag);
  return stored ? parse_referrers(stored->text, fmt::format("the index `{}`", tag))
                : std::vector<Referrer>{};
}

bool lists(const std::vector<Referrer>& referrers, const Referrer& one) {
  return std::ranges::any_of(referrers, [&](const Referrer& other) {
    return other.manifest.digest == one.manifest.digest;
  });
}

/// Adds `referrer` to the index under the tag of `subject`.
void list_by_tag(Repository& repository, const Digest& subject, const Referrer& referrer) {
  auto listed = listed_by_tag(repository, subject);
  for (int number = 0; number < most_tries && !lists(listed, referrer); ++number) {
    listed.push_back(referrer);
    json entries = json::array();
    for (const auto& one : listed) {
      entries.push_back(entry_of(one));
    }
    auto text = write_json(image::index_of(std::move(entries)));
    const auto digest = sha256(text);
    repository.put_manifest({.media_type = std::string{image::media_type::oci_index},
                             .text = std::move(text),
                             .digest = digest},
                            fallback_tag(subject));
    listed = listed_by_tag(repository, subject);
  }
}

std::optional<Referrer> referrer_of(const json& entry) {
  const auto digest = Digest::parse(text_at(entry, "digest"));
  if (!digest || !entry.contains("size") || !entry["size"].is_number_unsigned()) {
    return std::nullopt;
  }
  Referrer referrer{.manifest = {.media_type = text_at(entry, "mediaType"),
                                 .digest = *digest,
                                 .size = entry["size"].get<std::uint64_t>()},
                    .artifact_type = text_at(entry, "artifactType")};
  if (entry.contains("annotations") && entry["annotations"].is_object()) {
    for (const auto& [name, value] : entry["annotations"].items()) {
      if (value.is_string()) {
        referrer.manifest.annotations.emplace(name, value.get<std::string>());
      }
    }
  }
  return referrer;
}

}  // namespace

std::vector<Referrer> parse_referrers(std::string_view text, const std::string& what) {
  const json document = parse_json(text);
  if (!document.is_object() || !document.contains("manifests") ||
      !document["manifests"].is_array()) {
    throw Error(ErrorKind::remote, fmt::format("{} is not an OCI index", what));
  }
  if (document["manifests"].size() > most_referrers) {
    throw Error(ErrorKind::remote, fmt::format("{} lists {} documents about one image", what,
                                               document["manifests"].size()))
        .cause(fmt::format("autopack reads at most {}", most_referrers));
  }
  std::vector<Referrer> referrers;
  for (const auto& entry : document["manifests"]) {
    if (auto referrer = referrer_of(entry)) {
      referrers.push_back(*std::move(referrer));
    }
  }
  return referrers;
}

std::vector<Referrer> find_referrers(Repository& repository, const Digest& subject) {
  auto found = repository.referrers(subject);
  if (!found) {
    return listed_by_tag(repository, subject);
  }
  // A tool may have used the tag before the registry had the API.
  if (found->empty()) {
    return listed_by_tag(repository, subject);
  }
  return *std::move(found);
}

image::Descriptor attach(Repository& repository,
                         const image::Descriptor& subject,
                         const Attachment& attachment) {
  const std::vector<Blob> blobs{blob_of(empty_bytes, empty_type),
                                blob_of(attachment.bytes, attachment.media_type)};
  push_blobs(repository, blobs, {});
  auto text = manifest_text(subject, attachment);
  const Referrer referrer{.manifest = {.media_type = std::string{image::media_type::oci_manifest},
                                       .digest = sha256(text),
                                       .size = text.size(),
                                       .annotations = attachment.annotations},
                          .artifact_type = attachment.artifact_type};
  const bool is_listed = repository.put_manifest({.media_type = referrer.manifest.media_type,
                                                  .text = std::move(text),
                                                  .digest = referrer.manifest.digest},
                                                 std::nullopt);
  if (!is_listed) {
    list_by_tag(repository, subject.digest, referrer);
  }
  return referrer.manifest;
}

std::string read_attachment(Repository& repository, const Referrer& referrer) {
  const auto& digest = referrer.manifest.digest;
  const auto what = fmt::format("the document `{}`", digest.str());
  const auto stored = repository.manifest(digest.str());
  if (!stored) {
    throw Error(ErrorKind::remote, what + " is no longer in its registry");
  }
  const auto manifest = image::parse_manifest(stored->text, what);
  if (manifest.layers.size() != 1) {
    throw Error(ErrorKind::remote,
                fmt::format("{} has {} parts instead of one", what, manifest.layers.size()));
  }
  return repository.read_blob(manifest.layers.front());
}

}  // namespace autopack::registry
