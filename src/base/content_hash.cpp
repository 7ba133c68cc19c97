#include "base/content_hash.hpp"

#include "base/text.hpp"

namespace autopack {

ContentHash::ContentHash(const Digest& digest) : bytes_{} {
  const std::string_view hex = std::string_view{digest.str()}.substr(7);
  const auto value = [&](std::size_t at) {
    return static_cast<unsigned char>(hex[at] <= '9' ? hex[at] - '0' : hex[at] - 'a' + 10);
  };
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    bytes_.at(i) = static_cast<unsigned char>(value(2 * i) << 4U | value(2 * i + 1));
  }
}

std::string ContentHash::hex(std::size_t digits) const {
  return hexadecimal(view().substr(0, digits / 2));
}

}  // namespace autopack
