#include "base/hmac.hpp"

#include "base/error.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

namespace autopack {

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
