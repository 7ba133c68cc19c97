#include "publish/copied.hpp"

#include "base/elapsed.hpp"
#include "base/text.hpp"
#include "registry/client.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>

namespace autopack::publish {

void copy_image(Services& services, const image::Reference& from, const image::Reference& to) {
  const auto& digest = from.digest.value();
  if (from.repository() == to.repository()) {
    return;
  }
  const auto began = std::chrono::steady_clock::now();
  const auto target = open_repository(services, to, registry::Access::push);
  if (target->head_manifest(digest.str())) {
    return;
  }
  const auto source = open_repository(services, from, registry::Access::pull);
  const auto sent =
      registry::copy_image(*source, *target, digest, std::nullopt,
                           from.host == to.host ? std::optional{from.path} : std::nullopt);
  services.reporter->done(
      "Copied",
      fmt::format("{} in {}, {} uploaded", to.text,
                  elapsed_text(std::chrono::steady_clock::now() - began), human_size(sent)));
}

}  // namespace autopack::publish
