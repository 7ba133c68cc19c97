#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::wheel {

/// Flags of a member (APPNOTE 4.4.4).
namespace zip_flag {

inline constexpr unsigned encrypted{1U << 0U | 1U << 6U | 1U << 13U};
inline constexpr unsigned has_descriptor{1U << 3U};
inline constexpr unsigned utf8{1U << 11U};

}  // namespace zip_flag

/// Reads successive little-endian numbers of zip records; returns zeros past the end.
class Fields {
public:
  explicit Fields(std::string_view bytes) : rest_{bytes} {}

  std::uint64_t number(std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count && i < rest_.size(); ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    }
    rest_.remove_prefix(std::min(count, rest_.size()));
    return value;
  }

  unsigned u16() { return static_cast<unsigned>(number(2)); }

  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }

  std::uint64_t u64() { return number(8); }

  std::string_view take(std::size_t count) {
    const auto bytes = rest_.substr(0, count);
    rest_.remove_prefix(bytes.size());
    return bytes;
  }

  std::size_t left() const { return rest_.size(); }

private:
  std::string_view rest_;
};

/// Reads each of `values` that is at its maximum from the extra field for large sizes, if that
/// exists. Returns the error, or nothing if the field is valid.
std::optional<std::string> read_sizes(std::string_view extra,
                                      std::initializer_list<std::uint64_t*> values);

/// Returns the error in the extra fields of the member `name`, or nothing if they are valid.
std::optional<std::string> extra_fault(std::string_view extra, std::string_view name);

/// Returns `name` for messages.
std::string in_backticks(std::string_view name);

}  // namespace autopack::wheel
