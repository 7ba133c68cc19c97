#pragma once

#include "services/repository_notes.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace autopack {

/// A blob that is `bytes`.
registry::Blob new_blob(std::string bytes, const char* media_type);

/// The blob of the text `key`; null when it is not noted.
const image::Descriptor* noted_text(const Notes& notes, const std::string& key);

/// Texts by key, each with the blob that it is in, and those blobs that are to be sent.
struct PackedTexts {
  std::vector<registry::Blob> blobs{};
  std::vector<std::pair<std::string, image::Descriptor>> texts{};
};

/// Packs the texts and lists of `news`, of the lists those that `before` does not note; small ones
/// are kept in `kept` as well. What is too long is left out.
PackedTexts pack_texts(const News& news, const Notes& before, const state::BlobCache& kept);

/// What a manifest names for `texts`: each blob once, with its keys.
std::vector<image::Descriptor> text_blobs(
    const std::vector<std::pair<std::string, image::Descriptor>>& texts);

/// Those texts of `blob` that have one of `keys`; from `kept`, if it is there. Throws as
/// registry::Repository::read_blob, and Error(remote) for what is not packed.
std::map<std::string, std::string> read_texts(registry::Repository& repository,
                                              const image::Descriptor& blob,
                                              const std::set<std::string>& keys,
                                              const state::BlobCache& kept);

}  // namespace autopack
