#pragma once

#include "base/digest.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::attest {

/// Types of predicates: what a statement says about an image.
namespace predicate_type {
inline constexpr auto* provenance = "https://slsa.dev/provenance/v1";
inline constexpr auto* spdx = "https://spdx.dev/Document";
inline constexpr auto* cyclonedx = "https://cyclonedx.org/bom";
/// Says only that the image was signed, as cosign writes it.
inline constexpr auto* signature = "https://sigstore.dev/cosign/sign/v1";
}  // namespace predicate_type

inline constexpr auto* statement_media_type = "application/vnd.in-toto+json";

/// A statement about images, read (in-toto attestation framework, Statement v1).
struct Statement {
  std::string predicate_type{};
  std::vector<Digest> subjects{};  ///< of manifests; those with other hashes are left out
  std::string predicate{};         ///< JSON

  bool is_about(const Digest& image) const;
};

/// Returns the JSON of a statement about the image `digest` under `name` (`host/path`; empty: no
/// name). `predicate` is a JSON object.
std::string statement_text(const std::string& name,
                           const Digest& digest,
                           const std::string& predicate_type,
                           const nlohmann::json& predicate);

/// Throws Error(remote) that names `what` if `text` is not a statement.
Statement parse_statement(std::string_view text, const std::string& what);

}  // namespace autopack::attest
