// As in digest.cpp, these functions need no setup.

#include "base/named_hash.hpp"

#include "base/text.hpp"

#include <openssl/md5.h>
#include <openssl/sha.h>

#include <array>
#include <utility>

namespace autopack {

namespace {

/// The functions of one hash; `Context` is a union member of State.
struct Algorithm {
  std::string_view name;
  std::size_t size;
  int (*init)(void* context);
  int (*update)(void* context, const void* bytes, std::size_t size);
  int (*final)(unsigned char* hash, void* context);
};

template <class Context,
          int (*Init)(Context*),
          int (*Update)(Context*, const void*, std::size_t),
          int (*Final)(unsigned char*, Context*)>
constexpr Algorithm algorithm(std::string_view name, std::size_t size) {
  return {name, size, [](void* context) { return Init(static_cast<Context*>(context)); },
          [](void* context, const void* bytes, std::size_t count) {
            return Update(static_cast<Context*>(context), bytes, count);
          },
          [](unsigned char* hash, void* context) {
            return Final(hash, static_cast<Context*>(context));
          }};
}

constexpr std::array algorithms{
    algorithm<MD5_CTX, MD5_Init, MD5_Update, MD5_Final>("md5", MD5_DIGEST_LENGTH),
    algorithm<SHA_CTX, SHA1_Init, SHA1_Update, SHA1_Final>("sha1", SHA_DIGEST_LENGTH),
    algorithm<SHA256_CTX, SHA224_Init, SHA224_Update, SHA224_Final>("sha224", SHA224_DIGEST_LENGTH),
    algorithm<SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final>("sha256", SHA256_DIGEST_LENGTH),
    algorithm<SHA512_CTX, SHA384_Init, SHA384_Update, SHA384_Final>("sha384", SHA384_DIGEST_LENGTH),
    algorithm<SHA512_CTX, SHA512_Init, SHA512_Update, SHA512_Final>("sha512",
                                                                    SHA512_DIGEST_LENGTH)};

}  // namespace

struct NamedHash::State {
  const Algorithm* algorithm;

  union {
    MD5_CTX md5;
    SHA_CTX sha1;
    SHA256_CTX sha256;
    SHA512_CTX sha512;
  } context;
};

NamedHash::NamedHash(std::unique_ptr<State> state) : state_{std::move(state)} {}

NamedHash::~NamedHash() = default;
NamedHash::NamedHash(NamedHash&&) noexcept = default;
NamedHash& NamedHash::operator=(NamedHash&&) noexcept = default;

std::optional<NamedHash> NamedHash::make(std::string_view name) {
  for (const auto& known : algorithms) {
    if (known.name == name) {
      auto state = std::make_unique<State>();
      state->algorithm = &known;
      known.init(&state->context);
      return NamedHash{std::move(state)};
    }
  }
  return std::nullopt;
}

void NamedHash::update(std::string_view bytes) {
  state_->algorithm->update(&state_->context, bytes.data(), bytes.size());
}

std::string NamedHash::finish() {
  std::array<unsigned char, SHA512_DIGEST_LENGTH> hash{};
  state_->algorithm->final(hash.data(), &state_->context);
  return hexadecimal({reinterpret_cast<const char*>(hash.data()), state_->algorithm->size});
}

}  // namespace autopack
