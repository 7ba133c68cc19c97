#include "base/error.hpp"
#include "base/text.hpp"
#include "plan/plan.hpp"

#include <fmt/format.h>

namespace autopack::plan {

void PlacedTree::stream_as_planned(const ContextEntry& entry,
                                   const std::function<void(std::string_view bytes)>& take) const {
  Sha256 hash;
  stream(entry, [&](std::string_view bytes) {
    hash.update(bytes);
    take(bytes);
  });
  if (entry.content && ContentHash{hash.finish_bytes()} != *entry.content) {
    throw Error(ErrorKind::project,
                fmt::format("`{}` changed while it was read", printable(entry.path)))
        .hint("run the same command again when nothing writes to the project");
  }
}

}  // namespace autopack::plan
