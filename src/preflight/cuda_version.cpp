#include "preflight/cuda_version.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::preflight {

namespace {

/// Returns the digits at the start of `text`, at most `most`.
std::string_view digits_of(std::string_view text, std::size_t most) {
  return text.substr(0, std::min(text.find_first_not_of("0123456789"), most));
}

/// Returns the version in `cuda11.8`, `cuda-12` or the like.
std::optional<std::string> spelled_version(std::string_view name) {
  constexpr std::string_view word = "cuda";
  for (auto at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    auto rest = name.substr(at + word.size());
    if (rest.starts_with(':') || rest.starts_with('_') || rest.starts_with('-')) {
      rest.remove_prefix(1);
    }
    std::string version{digits_of(rest, 2)};
    if (version.empty()) {
      continue;
    }
    rest.remove_prefix(version.size());
    while (rest.starts_with('.') && !digits_of(rest.substr(1), 2).empty()) {
      const auto part = rest.substr(0, 1 + digits_of(rest.substr(1), 2).size());
      version += part;
      rest.remove_prefix(part.size());
    }
    return version;
  }
  return std::nullopt;
}

/// Returns the version in `-cu118`, `.cu121` or the like.
std::optional<std::string> shortened_version(std::string_view name) {
  constexpr std::string_view word = "cu";
  constexpr std::string_view within_word = "abcdefghijklmnopqrstuvwxyz0123456789";
  for (auto at = name.find(word, 1); at != std::string_view::npos; at = name.find(word, at + 1)) {
    const auto digits = digits_of(name.substr(at + word.size()), 4);
    if (digits.size() == 3 && within_word.find(name[at - 1]) == std::string_view::npos) {
      return fmt::format("{}.{}", digits.substr(0, 2), digits.substr(2));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> cuda_version_in(std::string_view name) {
  auto version = spelled_version(name);
  return version ? version : shortened_version(name);
}

}  // namespace autopack::preflight
