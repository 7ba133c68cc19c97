#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace autopack {

/// The parts of an absolute URL (RFC 3986); user and password percent-decoded.
struct Url {
  std::string scheme{};  ///< lower case
  std::string user{};
  std::string password{};
  std::string host{};  ///< lower case, without brackets for IPv6
  std::optional<std::uint16_t> port{};
  std::string path{};   ///< with its leading `/`; may be empty
  std::string query{};  ///< without `?`

  /// None when `text` is not an absolute URL with a host (or, for `unix:`, a path).
  static std::optional<Url> parse(std::string_view text);

  /// `scheme://host[:port]`.
  std::string origin() const;
  /// True for 127.0.0.0/8, ::1 and localhost.
  bool is_loopback() const;
};

/// `reference` as seen from the URL `base` (RFC 3986 section 5.2), without its fragment; none when
/// that is no absolute URL.
std::optional<std::string> resolve_url(std::string_view base, std::string_view reference);
/// `text` without user information and query values; safe in messages. Not a URL: unchanged.
std::string redact_url(std::string_view text);
/// Every `scheme://user:password@` in a free text made `scheme://***@`; `ssh://user@` stays.
std::string redact_credentials(std::string text);
std::string percent_encode(std::string_view text);
std::string percent_decode(std::string_view text);

}  // namespace autopack
