#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::wheel {

/// What the flags of a member say (APPNOTE 4.4.4).
namespace zip_flag {

inline constexpr unsigned encrypted{1U << 0U | 1U << 6U | 1U << 13U};
inline constexpr unsigned has_descriptor{1U << 3U};
inline constexpr unsigned utf8{1U << 11U};

}  // namespace zip_flag

/// Little-endian numbers in records of zip archives, one after the other; zeros behind the end.
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

/// Reads those `values` that are full from the extra field of large sizes, which may be missing.
/// What is wrong with it; none when nothing is.
std::optional<std::string> read_sizes(std::string_view extra,
                                      std::initializer_list<std::uint64_t*> values);

/// What is wrong with the extra fields of the member `name`; none when nothing is.
std::optional<std::string> extra_fault(std::string_view extra, std::string_view name);

/// `name` for messages.
std::string in_backticks(std::string_view name);

}  // namespace autopack::wheel
