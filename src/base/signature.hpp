#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace autopack {

/// A public key that verifies signatures: ECDSA on NIST's curves, RSA (PKCS #1 v1.5) or Ed25519.
class PublicKey {
public:
  /// Reads a key in PEM form. Throws Error(usage) that names `source` if `pem` has none, or one of
  /// another kind.
  PublicKey(std::string_view pem, const std::string& source);
  ~PublicKey();
  PublicKey(PublicKey&&) noexcept;
  PublicKey& operator=(PublicKey&&) noexcept;
  PublicKey(const PublicKey&) = delete;
  PublicKey& operator=(const PublicKey&) = delete;

  /// Returns true if `signature` (ECDSA: in DER) is the key's signature of `message`. The hash is
  /// SHA-256; for the curves P-384 and P-521, SHA-384 and SHA-512.
  bool verifies(std::string_view message, std::string_view signature) const;

private:
  struct Key;
  std::unique_ptr<Key> key_;
};

}  // namespace autopack
