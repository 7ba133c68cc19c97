#include "job/origin.hpp"

#include <fmt/format.h>

namespace autopack::job {

std::string to_string(const Origin& origin) {
  if (origin.kind == Origin::Kind::setting) {
    return origin.name;
  }
  std::string text = origin.kind == Origin::Kind::file ? origin.name : "`" + origin.name + "`";
  if (origin.line) {
    text += fmt::format(":{}", *origin.line);
  }
  if (origin.number) {
    text += fmt::format(" number {}", *origin.number);
  }
  return text;
}

std::optional<std::string> to_string(const std::optional<Origin>& origin) {
  return origin ? std::optional{to_string(*origin)} : std::nullopt;
}

}  // namespace autopack::job
