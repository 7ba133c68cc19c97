#include "gpu/architecture.hpp"

#include <fmt/format.h>

#include <charconv>

namespace autopack::gpu {

namespace {

/// Returns a number of at most three digits; nothing if `text` is anything else.
std::optional<unsigned> short_number(std::string_view text) {
  unsigned number = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool good = !text.empty() && text.size() <= 3 && error == std::errc{} && rest == end;
  return good ? std::optional{number} : std::nullopt;
}

}  // namespace

std::string Capability::str() const {
  return fmt::format("{}.{}", major, minor);
}

std::optional<Capability> Capability::parse(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) {
    return std::nullopt;
  }
  const auto major = short_number(text.substr(0, dot));
  const auto minor = short_number(text.substr(dot + 1));
  return major && minor ? std::optional{Capability{.major = *major, .minor = *minor}}
                        : std::nullopt;
}

std::string Architecture::str() const {
  return fmt::format("{}{}", number,
                     variant == Variant::specific ? "a"
                     : variant == Variant::family ? "f"
                                                  : "");
}

std::optional<Architecture> Architecture::parse(std::string_view text) {
  auto variant = Variant::plain;
  if (text.ends_with('a') || text.ends_with('f')) {
    variant = text.ends_with('a') ? Variant::specific : Variant::family;
    text.remove_suffix(1);
  }
  const auto number = short_number(text);
  return number && *number >= 10
             ? std::optional{Architecture{.number = *number, .variant = variant}}
             : std::nullopt;
}

}  // namespace autopack::gpu
