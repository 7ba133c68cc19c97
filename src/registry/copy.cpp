#include "base/byte_pipe.hpp"
#include "base/error.hpp"
#include "image/manifest.hpp"
#include "registry/client.hpp"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace autopack::registry {

namespace {

StoredManifest manifest_of(Repository& from, const Digest& digest) {
  auto manifest = from.manifest(digest.str());
  if (!manifest) {
    throw Error(ErrorKind::remote,
                fmt::format("the image `{}` is no longer in its registry", digest.str()));
  }
  return *std::move(manifest);
}

std::uint64_t copy_blobs(Repository& from,
                         Repository& to,
                         const StoredManifest& manifest,
                         const std::optional<std::string>& mount_from) {
  const auto parsed = image::parse_manifest(manifest.text, "the image to copy");
  auto wanted = parsed.layers;
  wanted.push_back(parsed.config);
  std::vector<Blob> blobs;
  std::set<std::string> seen;
  for (const auto& blob : wanted) {
    // Foreign layers are in no registry.
    if (blob.urls.empty() && seen.insert(blob.digest.str()).second) {
      Blob copied{.known = blob, .mount_from = mount_from};
      copied.open = blob_source(from, blob);
      blobs.push_back(std::move(copied));
    }
  }
  std::uint64_t sent = 0;
  for (const auto& pushed : push_blobs(to, blobs, {})) {
    sent += pushed.uploaded ? pushed.size : 0;
  }
  return sent;
}

}  // namespace

BlobSource blob_source(Repository& from, const image::Descriptor& blob) {
  return [&from, blob]() -> Reader {
    return pulled([&from, blob](const Take& take) { from.fetch_blob(blob, take); });
  };
}

std::uint64_t copy_image(Repository& from,
                         Repository& to,
                         const Digest& digest,
                         const std::optional<std::string>& tag,
                         const std::optional<std::string>& mount_from) {
  const auto whole = manifest_of(from, digest);
  std::uint64_t sent = 0;
  if (image::is_index(whole.text)) {
    for (const auto& entry : image::parse_index(whole.text, "the index to copy")) {
      const auto manifest = manifest_of(from, entry.manifest.digest);
      sent += copy_blobs(from, to, manifest, mount_from);
      to.put_manifest(manifest, std::nullopt);
    }
  } else {
    sent = copy_blobs(from, to, whole, mount_from);
  }
  to.put_manifest(whole, tag);
  return sent;
}

}  // namespace autopack::registry
