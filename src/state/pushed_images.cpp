#include "state/pushed_images.hpp"

#include "base/text.hpp"
#include "state/cache_files.hpp"

namespace autopack::state {

std::optional<Digest> PushedImages::get(const std::string& repository) const {
  const auto text = read_quietly(directory_ / sha256(repository).hex());
  return text ? Digest::parse(trim(*text)) : std::nullopt;
}

void PushedImages::put(const std::string& repository, const Digest& manifest) const {
  if (get(repository) != manifest) {
    write_quietly(directory_ / sha256(repository).hex(), manifest.str() + "\n", limit_);
  }
}

}  // namespace autopack::state
