#include "base/digest.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <vector>

// OpenSSL's first EVP call reads its configuration and sets up providers, which would cost every
// command 2 ms. SHA256_Update needs neither.
namespace autopack {

std::optional<Digest> Digest::parse(std::string_view text) {
  const bool valid = text.size() == 71 && text.starts_with("sha256:") &&
                     std::all_of(text.begin() + 7, text.end(), [](char c) {
                       return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                     });
  return valid ? std::optional{Digest{std::string{text}}} : std::nullopt;
}

struct Sha256::State {
  State() { SHA256_Init(&context); }

  SHA256_CTX context{};
};

Sha256::Sha256() : state_{std::make_unique<State>()} {}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
  SHA256_Update(&state_->context, bytes.data(), bytes.size());
}

std::array<unsigned char, 32> Sha256::finish_bytes() {
  std::array<unsigned char, 32> bytes{};
  SHA256_Final(bytes.data(), &state_->context);
  SHA256_Init(&state_->context);
  return bytes;
}

Digest Sha256::finish() {
  const auto bytes = finish_bytes();
  return Digest{"sha256:" +
                hexadecimal({reinterpret_cast<const char*>(bytes.data()), bytes.size()})};
}

Digest sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

namespace {

/// Without it, an encrypted key would ask for its password on the terminal.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) {
  return -1;
}

}  // namespace

std::string rs256_sign(std::string_view pem, std::string_view message) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> input{
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{
      PEM_read_bio_PrivateKey(input.get(), nullptr, &no_password, nullptr), &EVP_PKEY_free};
  if (!key || EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA) {
    throw Error(ErrorKind::usage, "the private key is not an RSA key in PEM form");
  }
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free};
  std::size_t size = 0;
  std::string signature;
  bool signed_well =
      EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
      EVP_DigestSignUpdate(context.get(), message.data(), message.size()) == 1 &&
      EVP_DigestSignFinal(context.get(), nullptr, &size) == 1;
  if (signed_well) {
    std::vector<unsigned char> bytes(size);
    signed_well = EVP_DigestSignFinal(context.get(), bytes.data(), &size) == 1;
    signature.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  }
  if (!signed_well) {
    throw Error(ErrorKind::internal, "signing with the private key failed");
  }
  return signature;
}

std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::array<unsigned char, 32> bytes{};
  unsigned int size = 0;
  const auto* const data = reinterpret_cast<const unsigned char*>(message.data());
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data, message.size(),
           bytes.data(), &size) == nullptr) {
    throw Error(ErrorKind::internal, "making an HMAC failed");
  }
  return {bytes.begin(), bytes.begin() + size};
}

}  // namespace autopack
