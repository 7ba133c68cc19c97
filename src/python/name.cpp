#include "python/name.hpp"

#include "base/text.hpp"

namespace autopack::python {

std::string normalise_name(std::string_view name) {
  std::string result;
  bool separator = false;
  for (const char c : to_lower(name)) {
    if (c == '-' || c == '_' || c == '.') {
      separator = true;
      continue;
    }
    if (separator && !result.empty()) {
      result += '-';
    }
    separator = false;
    result += c;
  }
  return result;
}

}  // namespace autopack::python
