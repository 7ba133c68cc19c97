#pragma once

#include <array>
#include <compare>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace autopack {

/// A `sha256:` content digest as in the OCI image specification.
class Digest {
public:
  /// Returns nothing unless `text` is `sha256:` and 64 lower-case hexadecimal digits.
  static std::optional<Digest> parse(std::string_view text);

  /// Returns `sha256:<hex>`.
  const std::string& str() const { return text_; }

  /// Returns the 64 hexadecimal digits.
  std::string hex() const { return text_.substr(7); }

  auto operator<=>(const Digest&) const = default;  // NOLINT(modernize-use-nullptr)

private:
  friend class Sha256;

  explicit Digest(std::string text) : text_{std::move(text)} {}

  std::string text_;
};

/// Computes a SHA-256 incrementally.
class Sha256 {
public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::string_view bytes);
  /// Returns the digest of all bytes so far, and starts again.
  Digest finish();
  /// The same as 32 bytes.
  std::array<unsigned char, 32> finish_bytes();

private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest sha256(std::string_view bytes);

/// Returns an RSA PKCS#1 v1.5 signature over SHA-256 (JWT's RS256). `pem` is a PKCS#8 or PKCS#1
/// private key; throws Error(usage) if it is not. Messages never contain the key.
std::string rs256_sign(std::string_view pem, std::string_view message);

/// Returns the HMAC with SHA-256 (RFC 2104): 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view message);

}  // namespace autopack
