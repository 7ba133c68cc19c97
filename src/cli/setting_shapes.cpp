#include "cli/setting_shapes.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::cli {

namespace {

using nlohmann::json;

bool is_text(const json& value) {
  return value.is_string() || value.is_number();
}

bool is_word(const json& value) {
  return is_text(value) || value.is_boolean();
}

/// Matches `NAME: VALUE`, or null instead of a value.
bool is_variables(const json& value) {
  return value.is_object() && std::ranges::all_of(value, [](const json& inner) {
           return inner.is_null() || is_word(inner);
         });
}

/// Matches `KEY: VALUE`, where a value may be a list or null.
bool is_pairs(const json& value) {
  const auto fits = [](const json& inner) {
    return inner.is_null() || is_word(inner) ||
           (inner.is_array() && std::ranges::all_of(inner, is_word));
  };
  const auto fits_key = [&](const auto& pair) {
    return fits(pair.value()) || (pair.key() == "build-env" && is_variables(pair.value()));
  };
  const auto pairs = value.items();
  return value.is_object() && std::ranges::all_of(pairs, fits_key);
}

bool is_element(const json& value) {
  return is_word(value) || is_pairs(value);
}

bool is_list(const json& value) {
  return value.is_array() && std::ranges::all_of(value, is_element);
}

/// Returns `words`, the expectation of a flag; nothing if its value `fits`.
std::optional<std::string_view> unless(bool fits, std::string_view words) {
  return fits ? std::nullopt : std::optional{words};
}

/// Returns what `flag` expects, in words; nothing if `value` is valid.
std::optional<std::string_view> wanted(const json& value, const FlagHelp& flag) {
  if (flag.long_name == "--config") {
    return unless(is_text(value) || value.is_object(), "a file's name or a job");
  }
  switch (flag.kind) {
    case FlagKind::toggle:
    case FlagKind::choice: return unless(value.is_string() || value.is_boolean(), "true or false");
    case FlagKind::count:
    case FlagKind::number: return unless(is_word(value), "a number");
    case FlagKind::list:
      return unless(is_text(value) || is_pairs(value) || is_list(value),
                    "text, a list, or pairs of a name and text");
    case FlagKind::text: break;
  }
  const bool has_words = contains(flag.values, "true");
  return unless(is_text(value) || (has_words && value.is_boolean()), "one text");
}

}  // namespace

std::optional<Problem> shape_fault(const project::ToolSetting& setting, const FlagHelp& flag) {
  const json& value = *setting.value;
  const std::string key = printable(setting.key);
  const std::string origin = fmt::format("{}:{}", printable(setting.file), setting.line);
  if (value.is_null()) {
    return Problem{.message = fmt::format("`{}` has no value", key), .origin = origin};
  }
  const auto fitting = wanted(value, flag);
  if (!fitting) {
    return std::nullopt;
  }
  Problem problem{.message = fmt::format("`{}` is {}, not {}", key, *fitting, print_json(value)),
                  .origin = origin};
  if (value.is_boolean()) {
    problem.hints.push_back(fmt::format("where a text is meant: {}: \"{}\"", key, value.dump()));
  }
  return problem;
}

}  // namespace autopack::cli
