#include "python/wheel_name.hpp"

#include "base/text.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <variant>

namespace autopack::python {

namespace {

constexpr std::size_t longest_name{512};
constexpr std::string_view suffix{".whl"};

std::optional<BuildTag> parse_build(std::string_view text) {
  const auto digits =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  constexpr std::size_t most_digits{18};
  if (digits == 0 || digits > most_digits) {
    return std::nullopt;
  }
  std::uint64_t number{0};
  std::from_chars(text.data(), text.data() + digits, number);
  return BuildTag{number, std::string{text.substr(digits)}};
}

/// Returns the tags of a dotted set, or nothing if one of them is empty.
std::optional<std::vector<std::string>> parse_tags(std::string_view text) {
  auto tags = split(to_lower(text), '.');
  const bool whole = std::ranges::none_of(tags, [](const std::string& tag) { return tag.empty(); });
  return whole ? std::optional{std::move(tags)} : std::nullopt;
}

bool is_identifier(const std::string& text) {
  return !is_digit(text.front()) && is_alphanumeric(text, "_");
}

/// Returns the parts of the name, or its error.
std::variant<WheelName, std::string> read(std::string_view file) {
  if (file.size() > longest_name) {
    return fmt::format("it is longer than {} bytes", longest_name);
  }
  if (!file.ends_with(suffix)) {
    return "it does not end with `.whl`";
  }
  const auto parts = split(file.substr(0, file.size() - suffix.size()), '-');
  if (parts.size() == 7 && parse_build(parts[2])) {
    return "its seventh part makes it a wheel variant (PEP 817), which is not supported";
  }
  if (parts.size() != 5 && parts.size() != 6) {
    return fmt::format("it has {} parts between dashes; a wheel has 5 or 6", parts.size());
  }
  if (parts[0].empty() || !is_alphanumeric(parts[0], "._")) {
    return fmt::format("`{}` is not the name of a distribution", printable(parts[0]));
  }
  const auto version = Version::parse(parts[1]);
  if (!version) {
    return fmt::format("`{}` is not a version", printable(parts[1]));
  }
  WheelName name{.name = normalise_name(parts[0]), .distribution = parts[0], .version = *version};
  if (parts.size() == 6) {
    name.build = parse_build(parts[2]);
    if (!name.build) {
      return fmt::format(
          "`{}` is not a build tag, which starts with a number; wheel variants (PEP 817), which "
          "have one more part, are not supported",
          printable(parts[2]));
    }
  }
  const std::size_t first = parts.size() - 3;
  auto interpreters = parse_tags(parts[first]);
  auto abis = parse_tags(parts[first + 1]);
  auto platforms = parse_tags(parts[first + 2]);
  if (!interpreters || !abis || !platforms) {
    return "one of its tags is empty";
  }
  if (!std::ranges::all_of(*interpreters, is_identifier)) {
    return fmt::format("`{}` does not name interpreters", printable(parts[first]));
  }
  name.interpreters = std::move(*interpreters);
  name.abis = std::move(*abis);
  name.platforms = std::move(*platforms);
  return name;
}

}  // namespace

std::optional<WheelName> WheelName::parse(std::string_view file) {
  auto found = read(file);
  auto* const name = std::get_if<WheelName>(&found);
  return name == nullptr ? std::nullopt : std::optional{std::move(*name)};
}

std::optional<std::string> wheel_name_fault(std::string_view file) {
  const auto found = read(file);
  const auto* const fault = std::get_if<std::string>(&found);
  return fault == nullptr ? std::nullopt : std::optional{*fault};
}

}  // namespace autopack::python
