#include "wheel/zip_fields.hpp"

#include "base/text.hpp"
#include "wheel/zip.hpp"

#include <optional>

namespace autopack::wheel {

namespace {

using namespace std::string_view_literals;

constexpr unsigned large_sizes_field{0x0001};
constexpr unsigned other_name_field{0x7075};
constexpr std::uint64_t full{0xffffffff};

/// Returns the extra field `id`, or nothing if there is none. Sets `is_sound` to whether all fields
/// are valid.
std::optional<std::string_view> extra_field(std::string_view extra, unsigned id, bool& is_sound) {
  std::optional<std::string_view> found;
  Fields fields{extra};
  is_sound = true;
  while (fields.left() >= 4) {
    const unsigned kind = fields.u16();
    const unsigned size = fields.u16();
    is_sound = is_sound && size <= fields.left() && !(kind == id && found);
    const auto bytes = fields.take(size);
    if (kind == id) {
      found = bytes;
    }
  }
  const auto rest = fields.take(fields.left());
  is_sound = is_sound && std::ranges::all_of(rest, [](char c) { return c == '\0'; });
  return found;
}

}  // namespace

std::optional<std::string> read_sizes(std::string_view extra,
                                      std::initializer_list<std::uint64_t*> values) {
  bool is_sound = true;
  const auto field = extra_field(extra, large_sizes_field, is_sound);
  if (!field) {
    return std::nullopt;  // the maximum is then an ordinary size
  }
  Fields fields{*field};
  for (auto* value : values) {
    if (*value != full) {
      continue;
    }
    if (fields.left() < 8) {
      return "lacks its size";
    }
    *value = fields.u64();
  }
  return std::nullopt;
}

std::optional<std::string> extra_fault(std::string_view extra, std::string_view name) {
  constexpr std::size_t before_name{5};
  bool has_one_name = true;
  bool is_sound = true;
  const auto other = extra_field(extra, other_name_field, has_one_name);
  if (other && other->substr(std::min(before_name, other->size())) != name) {
    return "has a second name";
  }
  extra_field(extra, large_sizes_field, is_sound);
  return is_sound && has_one_name ? std::nullopt : std::optional{"has invalid extra fields"};
}

std::string in_backticks(std::string_view name) {
  return "`" + printable(name) + "`";
}

std::optional<std::string> name_fault(std::string_view name) {
  constexpr std::size_t longest_part{255};
  constexpr std::size_t longest_name{2048};
  constexpr std::size_t most_parts{100};
  if (name.size() > longest_name) {
    return "a name that is too long";
  }
  if (printable(name) != name) {
    return "a name with control characters or invalid UTF-8";
  }
  for (const auto sign : {"\xe2\x80\xa8"sv, "\xe2\x80\xa9"sv}) {
    if (name.find(sign) != std::string_view::npos) {
      return "a name with line breaks";
    }
  }
  const auto parts = split(name, '/');
  if (parts.size() > most_parts) {
    return "a name that is too long";
  }
  for (const auto& part : parts) {
    if (part.empty() || part == "." || part == "..") {
      return "a name that leads elsewhere";
    }
    if (part.size() > longest_part) {
      return "a name that is too long";
    }
    if (part.starts_with(".wh.")) {
      return "a name that removes files from an image";
    }
  }
  return std::nullopt;
}

}  // namespace autopack::wheel
