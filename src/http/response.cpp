#include "base/text.hpp"
#include "http/client.hpp"

namespace autopack::http {

std::optional<std::string> Response::header(std::string_view name) const {
  const std::string wanted = to_lower(name);
  for (auto entry = headers.rbegin(); entry != headers.rend(); ++entry) {
    if (to_lower(entry->name) == wanted) {
      return entry->value;
    }
  }
  return std::nullopt;
}

}  // namespace autopack::http
