#include "job/origin.hpp"

#include <fmt/format.h>

namespace autopack::job {

std::string to_string(const Origin& origin) {
  if (origin.kind == Origin::Kind::setting) {
    return origin.name;
  }
  std::string text = fmt::format("`{}`", origin.name);
  if (origin.line > 0) {
    text += fmt::format(" line {}", origin.line);
  }
  if (origin.number > 0) {
    text += fmt::format(" number {}", origin.number);
  }
  return text;
}

}  // namespace autopack::job
