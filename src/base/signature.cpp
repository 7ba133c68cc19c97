#include "base/signature.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

namespace autopack {

struct PublicKey::Key {
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{nullptr, &EVP_PKEY_free};

  /// Returns the hash to sign with; null for Ed25519, which hashes by itself.
  const EVP_MD* hash() const {
    switch (EVP_PKEY_base_id(key.get())) {
      case EVP_PKEY_ED25519: return nullptr;
      case EVP_PKEY_EC:
        if (EVP_PKEY_bits(key.get()) > 384) {
          return EVP_sha512();
        }
        return EVP_PKEY_bits(key.get()) > 256 ? EVP_sha384() : EVP_sha256();
      default: return EVP_sha256();
    }
  }
};

PublicKey::PublicKey(std::string_view pem, const std::string& source)
    : key_{std::make_unique<Key>()} {
  const std::unique_ptr<BIO, decltype(&BIO_free)> input{
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
  key_->key.reset(PEM_read_bio_PUBKEY(input.get(), nullptr, nullptr, nullptr));
  if (!key_->key) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` is not a public key in PEM form", printable(source)))
        .hint("`cosign public-key --key=KEY` prints the public key of a key or a KMS");
  }
  const int kind = EVP_PKEY_base_id(key_->key.get());
  if (kind != EVP_PKEY_EC && kind != EVP_PKEY_RSA && kind != EVP_PKEY_ED25519) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is a public key of a kind that autopack does "
                                              "not know",
                                              printable(source)))
        .hint("use an ECDSA, RSA or Ed25519 key");
  }
}

PublicKey::~PublicKey() = default;
PublicKey::PublicKey(PublicKey&&) noexcept = default;
PublicKey& PublicKey::operator=(PublicKey&&) noexcept = default;

bool PublicKey::verifies(std::string_view message, std::string_view signature) const {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  };
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free};
  return EVP_DigestVerifyInit(context.get(), nullptr, key_->hash(), nullptr, key_->key.get()) ==
             1 &&
         EVP_DigestVerify(context.get(), bytes(signature), signature.size(), bytes(message),
                          message.size()) == 1;
}

}  // namespace autopack
