#include "state/pushed_images.hpp"

#include "base/text.hpp"

namespace autopack::state {

std::optional<Digest> PushedImages::get(const std::string& repository) const {
  const auto text = store_.get(sha256(repository).hex());
  return text ? Digest::parse(trim(*text)) : std::nullopt;
}

void PushedImages::put(const std::string& repository, const Digest& manifest) const {
  if (get(repository) != manifest) {
    store_.put(sha256(repository).hex(), manifest.str() + "\n");
  }
}

}  // namespace autopack::state
