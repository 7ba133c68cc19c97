#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "job/merge.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::job {

using nlohmann::json;
using tables::Field;
using tables::Message;
using tables::Type;

namespace {

/// Converts `mountPoint` to `mount-point`.
std::string kebab_case(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      result += '-';
      result += static_cast<char>(c - 'A' + 'a');
    } else {
      result += c;
    }
  }
  return result;
}

/// Converts `any` to `ANY_RESERVATION`, `specific-reservation` to `SPECIFIC_RESERVATION`; other
/// text is unchanged.
std::string enumeration_value(const std::string& text, const Field& field) {
  std::string name = to_upper(replace_all(text, "-", "_"));
  name = name == "NONE" ? "NO" : name;
  for (const auto value : field.values) {
    if (value == name || value.substr(0, value.find('_')) == name) {
      return std::string{value};
    }
  }
  return text;
}

const Field* field_of_key(const Message& message, const std::string& key) {
  const auto found = std::ranges::find_if(
      message.fields, [&](const Field& f) { return kebab_case(f.name) == key; });
  return found == message.fields.end() ? nullptr : &*found;
}

std::string keys_of(const Message& message) {
  std::vector<std::string> keys;
  for (const auto& field : message.fields) {
    keys.push_back(kebab_case(field.name));
  }
  return "`" + join(keys, "`, `") + "`";
}

}  // namespace

json message_of_pairs(const FlagValue& value,
                      const Message& message,
                      const std::string& flag,
                      Problems& problems) {
  auto result = json::object();
  for (const auto& [key, inner] : value.keys(flag, problems)) {
    const auto* const field = field_of_key(message, key);
    if (field == nullptr) {
      problems.push_back({.message = fmt::format("`{}` is not a key of `{}`", printable(key), flag),
                          .origin = fmt::format("`{}`", flag),
                          .hints = {fmt::format("its keys are {}", keys_of(message))}});
      continue;
    }
    if (field->list) {
      result[std::string{field->name}] = to_list(inner);
      continue;
    }
    const auto text = to_text(inner);
    const bool is_word = field->type == Type::enumeration;
    const auto written = is_word ? enumeration_value(text, *field) : text;
    if (is_word && !contains(field->values, written)) {
      problems.push_back({.message = fmt::format("`{}` is not a value of `{}`{}", printable(text),
                                                 key, tables::did_you_mean(text, field->values)),
                          .origin = fmt::format("`{}`", flag)});
    }
    result[std::string{field->name}] = written;
  }
  return result;
}

}  // namespace autopack::job
