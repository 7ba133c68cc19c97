#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack {

/// The parts of an absolute URL (RFC 3986); user and password are percent-decoded.
struct Url {
  std::string scheme{};  ///< lower case
  std::string user{};
  std::string password{};
  std::string host{};  ///< lower case, without brackets for IPv6
  std::optional<std::uint16_t> port{};
  std::string path{};   ///< with its leading `/`; may be empty
  std::string query{};  ///< without `?`

  /// Returns nothing if `text` is not an absolute URL with a host (or, for `unix:`, a path).
  static std::optional<Url> parse(std::string_view text);

  /// Returns `scheme://host[:port]`.
  std::string origin() const;
  /// True for 127.0.0.0/8, ::1 and localhost.
  bool is_loopback() const;
};

/// Resolves `reference` against the URL `base` (RFC 3986 section 5.2) and removes its fragment;
/// returns nothing if the result is not an absolute URL.
std::optional<std::string> resolve_url(std::string_view base, std::string_view reference);
/// Returns `text` without user information and query values, safe for messages. Returns other texts
/// unchanged.
std::string redact_url(std::string_view text);
/// Replaces every `scheme://user:password@` in a text by `scheme://***@`; keeps `ssh://user@`.
std::string redact_credentials(std::string text);
/// Returns the `${NAME}` variables in a text, in order.
std::vector<std::string> variables_of(std::string_view text);
/// Returns true if the user information of a URL in `text` contains text other than `${NAME}`
/// variables. A user name alone counts, because tokens are often given so, except for `git@` and
/// `ssh://`.
bool holds_credentials(std::string_view text);
std::string percent_encode(std::string_view text);
std::string percent_decode(std::string_view text);

}  // namespace autopack
