#include "job/resource_names.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace autopack::job {

namespace {

constexpr std::size_t longest_model_id = 63;

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

/// Matches lower-case letters, digits, and `signs`; not empty.
bool is_lower_word(std::string_view text, std::string_view signs) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_lower(c) || is_digit(c) || signs.find(c) != std::string_view::npos;
  });
}

bool is_placeholder(std::string_view part) {
  return !part.empty() && std::ranges::all_of(part, [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// Returns true if `text` equals `form`, except that a 0 in `form` matches any digit.
bool has_digits_as(std::string_view text, std::string_view form) {
  return text.size() == form.size() &&
         std::equal(text.begin(), text.end(), form.begin(),
                    [](char c, char wanted) { return wanted == '0' ? is_digit(c) : c == wanted; });
}

int two_digits(std::string_view text, std::size_t at) {
  return (text[at] - '0') * 10 + (text[at + 1] - '0');
}

bool is_zone(std::string_view text) {
  return text == "Z" || has_digits_as(text, "+00:00") || has_digits_as(text, "-00:00");
}

}  // namespace

std::optional<ResourceName> match_name(std::string_view name, std::string_view form) {
  const auto parts = split(name, '/');
  const auto wanted = split(form, '/');
  if (parts.size() != wanted.size()) {
    return std::nullopt;
  }
  ResourceName match;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool fits = wanted[i] == "NUMBER"       ? is_number(parts[i])
                      : is_placeholder(wanted[i]) ? !parts[i].empty()
                                                  : parts[i] == wanted[i];
    if (!fits) {
      return std::nullopt;
    }
    if (wanted[i] == "REGION") {
      match.region = parts[i];
    }
  }
  return match;
}

bool is_project_id(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) {
    return is_lower_word(text, "-");
  }
  return is_lower_word(text.substr(0, colon), ".-") && is_lower_word(text.substr(colon + 1), "-");
}

bool is_region_form(std::string_view text) {
  const auto parts = split(text, '-');
  return !parts.front().empty() && std::ranges::all_of(parts.front(), is_lower) &&
         std::ranges::all_of(parts,
                             [](const std::string& part) { return is_lower_word(part, ""); });
}

bool is_service_account(std::string_view text) {
  if (is_number(text)) {
    return true;
  }
  const auto at = text.find('@');
  if (at == std::string_view::npos || at == 0) {
    return false;
  }
  const auto host = text.substr(at + 1);
  const auto dot = host.find('.', 1);
  return host.find('@') == std::string_view::npos && dot != std::string_view::npos &&
         dot + 1 < host.size();
}

bool is_bucket_uri(std::string_view text) {
  constexpr std::string_view scheme{"gs://"};
  return text.starts_with(scheme) && text.size() > scheme.size() && text[scheme.size()] != '/';
}

bool is_model_id(std::string_view text) {
  return text.size() <= longest_model_id && is_lower_word(text, "_-") &&
         (is_lower(text.front()) || text.front() == '_');
}

bool is_timestamp(std::string_view text) {
  constexpr std::string_view seconds{"0000-00-00T00:00:00"};
  constexpr std::size_t most_digits = 9;
  if (!has_digits_as(text.substr(0, seconds.size()), seconds)) {
    return false;
  }
  const int month = two_digits(text, 5);
  const int day = two_digits(text, 8);
  if (month < 1 || month > 12 || day < 1 || day > 31 || two_digits(text, 11) > 23 ||
      two_digits(text, 14) > 59 || two_digits(text, 17) > 59) {
    return false;
  }
  auto rest = text.substr(seconds.size());
  if (rest.starts_with('.')) {
    const auto end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    if (end == 1 || end > most_digits + 1) {
      return false;
    }
    rest.remove_prefix(end);
  }
  return is_zone(rest);
}

}  // namespace autopack::job
