#include "attest/bundle.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <doctest/doctest.h>

namespace autopack::attest_bundle_test {

namespace {

using attest::parse_bundle;

/// The public key of a pair of cosign 3.1.3, and parts of a bundle that it made with it.
constexpr auto* key_of_cosign = R"(-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEfvAQ9SdBMn9hWi2OltKBcTrJZgbG
3FoBbJl+qxGzPNKVDxj6lYVHPKsIgZjz5agutCETAt1LISqnK7OccvpfYA==
-----END PUBLIC KEY-----
)";
constexpr auto* payload_of_cosign =
    "eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pby9TdGF0ZW1lbnQvdjEiLCJzdWJqZWN0IjpbeyJuYW1l"
    "IjoieCIsImRpZ2VzdCI6eyJzaGEyNTYiOiJhYWFhMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAw"
    "MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwIn19XSwicHJlZGljYXRlVHlwZSI6Imh0dHBzOi8v"
    "c2xzYS5kZXYvcHJvdmVuYW5jZS92MSIsInByZWRpY2F0ZSI6e319Cg==";
constexpr auto* signature_of_cosign =
    "MEQCIGiINQIHAPkugKxIDIPojtpYUVGm2ha0CnB7p09onvmIAiAuHBJHEcqJ9Nm4hE+BJg7GB6sBiCMD"
    "5YkD86HcVJjA1g==";

/// The subject of that statement.
Digest image() {
  return Digest::parse("sha256:aaaa" + std::string(60, '0')).value();
}

std::string bundle_text(const std::string& payload = payload_of_cosign,
                        const std::string& signature = signature_of_cosign) {
  nlohmann::json bundle;
  bundle["mediaType"] = attest::bundle_media_type;
  bundle["verificationMaterial"]["publicKey"]["hint"] = "a";
  auto& envelope = bundle["dsseEnvelope"];
  envelope["payload"] = payload;
  envelope["payloadType"] = attest::statement_media_type;
  envelope["signatures"][0]["sig"] = signature;
  return write_json(bundle);
}

/// A public key, and its signature of `message`, made by OpenSSL's program.
struct Sample {
  const char* key;
  const char* signature;
};

constexpr Sample ed25519{
    R"(-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAS3A4ffUaZkRtErJUWbOXIqg6dxxPw1P459Or7FzHdsM=
-----END PUBLIC KEY-----
)",
    "zFjY+M9ERnPQ0xBw66Z4k8DPGou1Qx6QSEUcDKny3lWOO4zXvLiZZRj5UQzovjHdFmznWWP3UgOc3EGv"
    "rydYBg=="};
constexpr Sample p384{
    R"(-----BEGIN PUBLIC KEY-----
MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEXyj2O/7LnpatXYG7wTyE+v3O9x/uSM6c
xALT0E5yvOS7buiEiaZP0IoC9eHsejhStZeOGuiLJq+r3cM8GKForkTZNOcsEWBm
aJ8wAk0uvv1DT4G26qc25ZrwhF4XRKXz
-----END PUBLIC KEY-----
)",
    "MGUCMQCN0LaxJqRyjR0kXenTJAeR/lVtcCpqIfnUQOMNPpLBEEbLZ2IQGhPjHXioW+1sxSMCMFsIhb7m"
    "hoJPuERIj035KCGh/dF0LW7k0GAVXW5dAcUhxeZBI+r6VhxLOZMjE+lqFA=="};
constexpr Sample rsa{
    R"(-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAm2BzflU4MMgmjLzyvdnk
GH6PV26Hm6c1b7jtNA/n4F9rSVcTRV1u0ym7ilfQ3/wzP8R5qYTCBe/VgkV79eUE
XGwg6yQR4cPJuTafxyma4K456MG6eM38Wc9oP0MVZsMFNbJogsPY3bDg6+AFRdMJ
K5qXZLHzFhUpQn1qGB04/i/6d/gA4LpUM6E+Fa2HJAYm95bW/xltT0O69dqw153X
TEOtjd0AZUPlitC6UCwePHkI8Kns0PmF/SXoNF419eXLbfsdzFnRk/PD9PZnNv05
sEXGX5Oul5Zg30Yaju8saarYp6u8FoBFMa0GjZ9yD2i2MLKYvdGChMQFxqDnUzDY
OQIDAQAB
-----END PUBLIC KEY-----
)",
    "fXpjMQx/HFT2k+68MR3zlH3uwaEYL77ndFUaGbS+WLvE301KINsmopLh0UW+2/luVUC2cUBd832MbE4W"
    "s4OyILoYuiLHtA1MQRkcyG6aapVtUl/t0L4Kewr7Zug79CGVPAB8VsE7Odbz2FdmqPVEbx8dZfynu4x/"
    "VarMTIHBQmk2MceYrAUgZHx0c9fqeXbUwNq32Xx/KaCJcnTyeaAt/Ohxk5Dh49x3gzVufnbJoqt/7o5g"
    "FYHe23ALsnL8J2fnPDokaxTTMuzr07qAHQ+OAOMRpb+FSZ5fvahlArT9Ks6JkxCUnip/NSLncvJxc3xd"
    "LM70jj8s/eZnCXxgQukcWw=="};

}  // namespace

TEST_CASE("a bundle of cosign is verified with its public key") {
  const PublicKey key{key_of_cosign, "cosign.pub"};
  const auto bundle = parse_bundle(bundle_text(), "the bundle");
  const auto statement = attest::verified_statement(bundle, key, image(), "the bundle");
  REQUIRE(statement);
  CHECK(statement->predicate_type == attest::predicate_type::provenance);
  CHECK_FALSE(attest::verified_statement(bundle, key, sha256("another image"), "the bundle"));
}

TEST_CASE("a bundle that was changed, or that another key signed, is not verified") {
  const PublicKey key{key_of_cosign, "cosign.pub"};
  const auto other =
      base64_encode(R"({"_type":"https://in-toto.io/Statement/v1","subject":[],"predicate":{}})");
  CHECK_FALSE(parse_bundle(bundle_text(other), "the bundle").is_signed_by(key));
  CHECK_FALSE(parse_bundle(bundle_text(payload_of_cosign, "AAAA"), "the bundle").is_signed_by(key));
  CHECK_FALSE(
      parse_bundle(bundle_text(), "the bundle").is_signed_by(PublicKey{p384.key, "p384.pub"}));
  auto retyped = parse_bundle(bundle_text(), "the bundle");
  retyped.payload_type = "text/plain";
  CHECK_FALSE(retyped.is_signed_by(key));
}

TEST_CASE("something else than a bundle is refused") {
  const std::vector<std::string> texts{"",
                                       "[]",
                                       "{}",
                                       R"({"dsseEnvelope":{}})",
                                       R"({"dsseEnvelope":{"payload":"e30=","signatures":{}}})",
                                       bundle_text("***")};
  for (const auto& text : texts) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_bundle(text, "the bundle"), Error);
  }
}

TEST_CASE("signatures of each kind of key are verified") {
  for (const auto& sample : {ed25519, p384, rsa}) {
    CAPTURE(sample.key);
    const PublicKey key{sample.key, "key.pub"};
    const auto signature = base64_decode(sample.signature).value();
    CHECK(key.verifies("message", signature));
    CHECK_FALSE(key.verifies("massage", signature));
    CHECK_FALSE(key.verifies("message", ""));
    CHECK_FALSE(key.verifies("message", signature.substr(1)));
  }
}

TEST_CASE("a text without a public key is refused") {
  for (const auto* text :
       {"", "no key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"}) {
    CAPTURE(text);
    CHECK_THROWS_AS((PublicKey{text, "key.pub"}), Error);
  }
}

}  // namespace autopack::attest_bundle_test
