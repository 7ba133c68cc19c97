#include "job/flag_values.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace autopack::job {

namespace {

constexpr std::int64_t longest_duration = 315'576'000'000;  // the API's limit, in seconds

struct Unit {
  char letter;
  std::int64_t seconds;
};

constexpr std::array units{Unit{'d', 86'400}, Unit{'h', 3'600}, Unit{'m', 60}, Unit{'s', 1}};

/// Consumes a number of at most 12 digits at the front; returns nothing if there is none.
std::optional<std::int64_t> take_number(std::string_view& text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > 12) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + digits, number);
  text.remove_prefix(digits);
  return number;
}

bool is_variable_name(std::string_view text) {
  return !text.empty() && is_alphanumeric(text, "_") && (text.front() < '0' || text.front() > '9');
}

bool is_fraction(std::string_view text) {
  return text.size() >= 3 && text.size() <= 11 && text.front() == '.' && text.back() == 's' &&
         text.substr(1, text.size() - 2).find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::vector<std::string> split_list(std::string_view value,
                                    const std::string& flag,
                                    Problems& problems) {
  std::string_view delimiter = ",";
  if (value.starts_with('^')) {
    const auto end = value.find('^', 1);
    if (end == 1) {
      problems.push_back({.message = fmt::format("`{}` has no delimiter between `^` and `^`", flag),
                          .origin = fmt::format("`{}`", flag),
                          .hints = {fmt::format("{}='^:^a:b' splits at `:`", flag)}});
      return {};
    }
    if (end != std::string_view::npos) {
      delimiter = value.substr(1, end - 1);
      value.remove_prefix(end + 1);
    }
  }
  if (value.ends_with(delimiter)) {
    value.remove_suffix(delimiter.size());
    if (value.empty()) {
      return {""};
    }
  }
  std::vector<std::string> parts;
  while (!value.empty()) {
    const auto end = value.find(delimiter);
    parts.emplace_back(value.substr(0, end));
    if (end == std::string_view::npos) {
      break;
    }
    value.remove_prefix(end + delimiter.size());
    if (value.empty()) {
      parts.emplace_back();
    }
  }
  return parts;
}

std::string join_list(const std::vector<std::string>& elements) {
  for (const std::string delimiter : {",", "|", "#", "~", "@@", "%%", "::::"}) {
    const bool plain = delimiter == ",";
    bool held = plain && !elements.empty() && elements.front().starts_with('^');
    for (const auto& element : elements) {
      held = held || element.find(delimiter) != std::string::npos;
    }
    if (!held || delimiter == "::::") {
      // The reader drops one trailing delimiter, as gcloud does.
      const bool ends_empty = !elements.empty() && elements.back().empty();
      return (plain ? "" : "^" + delimiter + "^") + join(elements, delimiter) +
             (ends_empty ? delimiter : "");
    }
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> split_pairs(std::string_view value,
                                                             const std::string& flag,
                                                             Problems& problems) {
  return pairs_of(split_list(value, flag, problems), flag, problems);
}

std::vector<std::pair<std::string, std::string>> pairs_of(const std::vector<std::string>& parts,
                                                          const std::string& flag,
                                                          Problems& problems) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& part : parts) {
    const auto equals = part.find('=');
    if (equals == std::string::npos || equals == 0) {
      const auto hint =
          flag == "--env" && parts.size() == 1 && is_variable_name(part)
              ? fmt::format("`{0}={1}=\"${1}\"` takes its value from here", flag, part)
              : fmt::format("a value with `,` needs another delimiter: {}='^:^KEY=VALUE:...'",
                            flag);
      problems.push_back(
          {.message = fmt::format("`{}` in `{}` is not KEY=VALUE", printable(part), flag),
           .origin = fmt::format("`{}`", flag),
           .hints = {hint}});
      continue;
    }
    const auto key = part.substr(0, equals);
    const bool repeated = std::ranges::any_of(pairs, [&](const auto& p) { return p.first == key; });
    if (repeated) {
      problems.push_back(
          {.message = fmt::format("key `{}` is given twice in `{}`", printable(key), flag),
           .origin = fmt::format("`{}`", flag)});
      continue;
    }
    pairs.emplace_back(key, part.substr(equals + 1));
  }
  return pairs;
}

std::optional<std::string> api_duration(std::string_view text) {
  const std::string_view whole = text;
  std::int64_t total = 0;
  auto unit = units.begin();
  while (!text.empty()) {
    const auto number = take_number(text);
    if (!number || *number > longest_duration) {
      return std::nullopt;
    }
    if (total == 0 && unit == units.begin() && is_fraction(text)) {
      return std::string{whole};
    }
    unit = std::find_if(unit, units.end(),
                        [&](const Unit& u) { return !text.empty() && text.front() == u.letter; });
    if (unit == units.end()) {
      return std::nullopt;
    }
    total += *number * unit->seconds;
    text.remove_prefix(1);
    ++unit;
  }
  if (whole.empty() || total > longest_duration) {
    return std::nullopt;
  }
  return fmt::format("{}s", total);
}

std::int64_t duration_seconds(std::string_view api_text) {
  const auto seconds = take_number(api_text);
  const bool fraction =
      api_text.size() > 1 && api_text.find_first_of("123456789") != std::string_view::npos;
  return seconds.value_or(0) + (fraction ? 1 : 0);
}

}  // namespace autopack::job
