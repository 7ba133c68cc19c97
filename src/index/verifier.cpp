#include "index/verifier.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::index {

namespace {

constexpr std::string_view sha256_name{"sha256"};

}  // namespace

Verifier::Verifier(const std::vector<python::Hash>& hashes) {
  const bool any_strong =
      std::ranges::any_of(hashes, [](const python::Hash& hash) { return hash.is_strong(); });
  std::ranges::copy_if(hashes, std::back_inserter(expected_),
                       [&](const python::Hash& hash) { return !any_strong || hash.is_strong(); });
  for (const auto& hash : expected_) {
    const bool is_known = std::ranges::any_of(
        hashers_, [&](const auto& hasher) { return hasher.first == hash.algorithm; });
    if (is_known) {
      continue;
    }
    if (hash.algorithm == sha256_name) {
      hashers_.emplace_back(hash.algorithm, std::nullopt);
    } else if (auto hasher = NamedHash::make(hash.algorithm)) {
      hashers_.emplace_back(hash.algorithm, std::move(hasher));
    }
  }
}

void Verifier::update(std::string_view bytes) {
  sha256_.update(bytes);
  for (auto& [algorithm, hasher] : hashers_) {
    if (hasher) {
      hasher->update(bytes);
    }
  }
}

std::optional<std::string> Verifier::finish() {
  sha256_hex_ = sha256_.finish().hex();
  if (expected_.empty()) {
    return std::nullopt;
  }
  std::vector<std::string> found;
  for (auto& [algorithm, hasher] : hashers_) {
    const python::Hash hash{algorithm, hasher ? hasher->finish() : sha256_hex_};
    if (contains(expected_, hash)) {
      return std::nullopt;
    }
    found.push_back(hash.algorithm + ":" + hash.hex);
  }
  const auto& first = expected_.front();
  return fmt::format(
      "its hash is {}, not {}:{}{}", join(found, ", "), first.algorithm, printable(first.hex),
      expected_.size() > 1 ? fmt::format(", nor one of {} others", expected_.size() - 1) : "");
}

}  // namespace autopack::index
