#pragma once

#include "image/manifest.hpp"
#include "registry/client.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::registry {

/// A document about an image, to be attached to it.
struct Attachment {
  std::string artifact_type{};  ///< of its manifest: `application/spdx+json`
  std::string media_type{};     ///< of its bytes
  std::string bytes{};
  std::map<std::string, std::string> annotations{};  ///< of its manifest
};

/// So many documents about one image are read; more are not what people attach.
inline constexpr std::size_t most_referrers{10'000};

/// Returns the entries of an index of referrers. Skips entries without a SHA-256 digest. Throws
/// Error(remote) naming `what` if `text` is not an index, or lists too many.
std::vector<Referrer> parse_referrers(std::string_view text, const std::string& what);

/// Returns the manifests that refer to the image `subject`, from the registry's API, or from the
/// index under the tag `sha256-<digits>` if it has none (OCI distribution 1.1, referrers tag
/// schema).
std::vector<Referrer> find_referrers(Repository& repository, const Digest& subject);

/// Stores `attachment` as a manifest that refers to `subject`, an image of `repository`. Adds it to
/// the index under the tag `sha256-<digits>` if the registry has no API for referrers. Attaching
/// the same bytes again changes nothing. Returns the manifest.
image::Descriptor attach(Repository& repository,
                         const image::Descriptor& subject,
                         const Attachment& attachment);

/// Returns the document of `referrer`, which attach() or another tool stored as the only layer of a
/// manifest. Throws Error(remote) if it is something else, or is larger than 8 MiB.
std::string read_attachment(Repository& repository, const Referrer& referrer);

}  // namespace autopack::registry
