#include "base/text.hpp"

#include <openssl/evp.h>

#include <algorithm>

namespace autopack {

namespace {

const unsigned char* octets(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* octets(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  const std::string source{bytes};
  std::string text((source.size() + 2) / 3 * 4, '\0');
  EVP_EncodeBlock(octets(text), octets(source), static_cast<int>(source.size()));
  return text;
}

std::string base64url_encode(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  text.resize(std::min(text.find('='), text.size()));
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  while (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  // OpenSSL ignores white space and stops at a `-`.
  if (!is_alphanumeric(text, "+/-_") || text.size() % 4 == 1) {
    return std::nullopt;
  }
  std::string padded{text};
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  padded.resize((text.size() + 3) / 4 * 4, '=');
  std::string bytes(padded.size() / 4 * 3, '\0');
  EVP_DecodeBlock(octets(bytes), octets(padded), static_cast<int>(padded.size()));
  bytes.resize(text.size() * 3 / 4);
  return bytes;
}

}  // namespace autopack
