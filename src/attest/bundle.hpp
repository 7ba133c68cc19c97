#pragma once

#include "attest/statement.hpp"
#include "base/signature.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::attest {

inline constexpr auto* bundle_media_type = "application/vnd.dev.sigstore.bundle.v0.3+json";

/// A signed text: the DSSE envelope of a sigstore bundle, as cosign 3 attaches it to an image.
struct Bundle {
  std::string payload_type{};
  std::string payload{};
  std::vector<std::string> signatures{};

  /// Returns true if one of the signatures is `key`'s.
  bool is_signed_by(const PublicKey& key) const;
};

/// Throws Error(remote) that names `what` if `text` is not a bundle with an envelope.
Bundle parse_bundle(std::string_view text, const std::string& what);

/// Returns the statement in `bundle` if `key` signed it and it is about `image`; nothing otherwise.
/// Throws Error(remote) that names `what` if the signed text is not a statement.
std::optional<Statement> verified_statement(const Bundle& bundle,
                                            const PublicKey& key,
                                            const Digest& image,
                                            const std::string& what);

}  // namespace autopack::attest
