#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::google {

/// A point in time as Google's APIs write it (RFC 3339), with nanoseconds.
struct Timestamp {
  std::int64_t seconds{0};  ///< since 1970-01-01 UTC
  std::int32_t nanoseconds{0};

  auto operator<=>(const Timestamp&) const = default;  // NOLINT(modernize-use-nullptr)

  /// Parses `2026-01-02T03:04:05[.123456789]Z`, or `+01:00` instead of `Z`. Returns nothing if
  /// `text` is anything else.
  static std::optional<Timestamp> parse(std::string_view text);

  /// Returns `2026-01-02T03:04:05.000000006Z`.
  std::string text() const;
  /// Returns `2026-01-02 03:04:05 +0000`, the format of gcloud.
  std::string readable() const;
};

}  // namespace autopack::google
