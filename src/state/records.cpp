#include "state/records.hpp"

#include "base/digest.hpp"
#include "state/cache_files.hpp"

namespace autopack::state {

std::optional<std::string> Records::get(const std::string& name) const {
  return read_quietly(directory_ / sha256(name).hex());
}

void Records::put(const std::string& name, const std::string& record) const {
  if (get(name) != record) {
    write_quietly(directory_ / sha256(name).hex(), record, limit_);
  }
}

}  // namespace autopack::state
