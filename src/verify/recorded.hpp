#pragma once

#include "attest/provenance.hpp"
#include "base/digest.hpp"
#include "image/source.hpp"
#include "services/services.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace autopack::verify {

/// What an image says about how it was made.
struct Recorded {
  std::string platform{};
  std::optional<std::string> base_name{};  ///< absent for a base in files
  std::optional<Digest> base_digest{};
  std::optional<std::int64_t> time{};              ///< of its files, in seconds since 1970
  std::optional<std::string> commit{};             ///< absent if it does not say
  bool is_dirty{false};                            ///< its files were not those of the commit
  bool has_byte_code{false};                       ///< made with `--compile-bytecode`
  std::map<std::string, std::string> labels{};     ///< about git: part of the key
  std::optional<attest::Provenance> provenance{};  ///< absent: only what the image itself says
  bool is_signed{false};                           ///< a key that the user gave signed the image
  std::optional<std::string> rebased_from{};       ///< it was moved to another base
};

/// True for a commit's hash; nothing else of an image may reach git.
bool is_commit(std::string_view text);

/// Returns the provenance that is attached to the image `digest` in the registry that `name` names;
/// nothing if there is none that can be used. It need not be signed: it only says how to rebuild.
std::optional<attest::Provenance> attached_provenance(Services& services,
                                                      const std::string& name,
                                                      const Digest& digest);

/// What a public key signed about an image.
struct SignedDocuments {
  std::set<std::string> predicate_types{};  ///< of its documents
  std::optional<attest::Provenance> provenance{};
};

/// Returns what the key in `key_file` signed about the image `digest` in the registry that `name`
/// names. Throws Error(usage) if the file has no key, or the image is in no registry, and
/// Error(remote) if the key signed nothing about the image.
SignedDocuments signed_documents(Services& services,
                                 const std::string& name,
                                 const Digest& digest,
                                 const std::string& key_file);

/// Reads the labels and the history of `image`. Throws Error(remote) if its configuration cannot be
/// read, or if autopack did not make it.
Recorded recorded_in(const image::Source& image);

}  // namespace autopack::verify
