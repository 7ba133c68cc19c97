#include "attest/bundle.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::attest {

using nlohmann::json;

namespace {

constexpr std::size_t most_signatures{100};

/// Returns the text that is signed (DSSE, pre-authentication encoding).
std::string signed_text(const Bundle& bundle) {
  return fmt::format("DSSEv1 {} {} {} {}", bundle.payload_type.size(), bundle.payload_type,
                     bundle.payload.size(), bundle.payload);
}

}  // namespace

bool Bundle::is_signed_by(const PublicKey& key) const {
  const auto text = signed_text(*this);
  return std::ranges::any_of(
      signatures, [&](const std::string& signature) { return key.verifies(text, signature); });
}

Bundle parse_bundle(std::string_view text, const std::string& what) {
  const auto document = parse_json(text);
  const auto refused = [&](const char* why) {
    return Error(ErrorKind::remote, fmt::format("{} is not a sigstore bundle", what)).cause(why);
  };
  if (!document.is_object() || !document.contains("dsseEnvelope")) {
    throw refused("it has no DSSE envelope");
  }
  const auto& envelope = document["dsseEnvelope"];
  const auto payload = base64_decode(text_at(envelope, "payload"));
  if (!payload || !envelope.contains("signatures") || !envelope["signatures"].is_array()) {
    throw refused("its envelope has no payload or no signatures");
  }
  Bundle bundle{.payload_type = text_at(envelope, "payloadType"), .payload = *payload};
  for (const auto& signature : envelope["signatures"]) {
    auto bytes = base64_decode(text_at(signature, "sig"));
    if (bytes && !bytes->empty() && bundle.signatures.size() < most_signatures) {
      bundle.signatures.push_back(*std::move(bytes));
    }
  }
  return bundle;
}

std::optional<Statement> verified_statement(const Bundle& bundle,
                                            const PublicKey& key,
                                            const Digest& image,
                                            const std::string& what) {
  if (bundle.payload_type != statement_media_type || !bundle.is_signed_by(key)) {
    return std::nullopt;
  }
  auto statement = parse_statement(bundle.payload, what);
  return statement.is_about(image) ? std::optional{std::move(statement)} : std::nullopt;
}

}  // namespace autopack::attest
