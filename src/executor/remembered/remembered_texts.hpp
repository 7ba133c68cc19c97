#pragma once

#include "executor/remembered/repository_facts.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace autopack {

/// Returns a blob of `bytes`.
registry::Blob new_blob(std::string bytes, const char* media_type);

/// Returns the blob of the text with `key`, or null if it is not recorded.
const image::Descriptor* remembered_text(const RememberedFacts& facts, const std::string& key);

/// Texts by key, each with its blob, and the blobs to send.
struct PackedTexts {
  std::vector<registry::Blob> blobs{};
  std::vector<std::pair<std::string, image::Descriptor>> texts{};
};

/// Packs the texts of `new_facts`, and those of its lists that `before` does not contain. Also
/// stores small ones in `kept`. Omits texts that are too long.
PackedTexts pack_texts(const NewFacts& new_facts,
                       const RememberedFacts& before,
                       const state::BlobCache& kept);

/// Returns the blobs of `texts` for a manifest: each blob once, with its keys.
std::vector<image::Descriptor> text_blobs(
    const std::vector<std::pair<std::string, image::Descriptor>>& texts);

/// Returns those texts of `blob` whose key is in `keys`; reads the blob from `kept` if possible.
/// Throws like registry::Repository::read_blob, and Error(remote) if the blob is not packed.
std::map<std::string, std::string> read_texts(registry::Repository& repository,
                                              const image::Descriptor& blob,
                                              const std::set<std::string>& keys,
                                              const state::BlobCache& kept);

}  // namespace autopack
