#include "python/hash.hpp"

#include "base/text.hpp"

#include <cstddef>

namespace autopack::python {

namespace {

std::size_t digits_of(std::string_view algorithm) {
  return algorithm == "sha256" ? 64 : algorithm == "sha384" ? 96 : algorithm == "sha512" ? 128 : 0;
}

}  // namespace

bool Hash::is_strong() const {
  return digits_of(algorithm) != 0;
}

std::optional<Hash> Hash::parse(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  Hash hash{.algorithm = to_lower(text.substr(0, colon)), .hex = to_lower(text.substr(colon + 1))};
  const bool good = !hash.hex.empty() && hash.hex.size() == digits_of(hash.algorithm) &&
                    hash.hex.find_first_not_of("0123456789abcdef") == std::string::npos;
  return good ? std::optional{std::move(hash)} : std::nullopt;
}

}  // namespace autopack::python
