#include "base/error.hpp"
#include "base/text.hpp"
#include "plan/plan.hpp"

#include <fmt/format.h>

namespace autopack::plan {

void PlacedTree::stream_as_planned(const ContextEntry& entry,
                                   const std::function<void(std::string_view bytes)>& take) const {
  Sha256 hash;
  std::uint64_t size = 0;
  const auto changed = [&] {
    return Error(ErrorKind::project,
                 fmt::format("`{}` changed while it was read", printable(entry.path)))
        .hint("run the same command again when nothing writes to the project");
  };
  stream(entry, [&](std::string_view bytes) {
    size += bytes.size();
    if (size > entry.size) {
      throw changed();
    }
    hash.update(bytes);
    take(bytes);
  });
  if (size != entry.size || (entry.content && ContentHash{hash.finish_bytes()} != *entry.content)) {
    throw changed();
  }
}

}  // namespace autopack::plan
