#include "job/yaml_json.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "job/config_document.hpp"
#include "job/config_scalar.hpp"
#include "job/yaml.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace autopack::job {

namespace {

using nlohmann::json;

Error unreadable_yaml(const std::string& name, const YAML::Mark& mark, const std::string& why) {
  return {ErrorKind::usage,
          fmt::format("`{}` cannot be read: line {}: {}", name, mark.line + 1, why)};
}

json json_integer(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x");
  const bool is_octal = text.starts_with("0o");
  auto digits = text.substr(is_hexadecimal || is_octal ? 2 : 0);
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
  }
  std::int64_t number = 0;
  const int base = is_hexadecimal ? 16 : is_octal ? 8 : 10;
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (failure == std::errc{} && end == digits.data() + digits.size()) {
    return number;
  }
  return std::strtod(std::string{text}.c_str(), nullptr);
}

json json_scalar(const YAML::Node& node, const std::string& name) {
  const auto& text = node.Scalar();
  switch (scalar_kind(node)) {
    case ScalarKind::null: return nullptr;
    case ScalarKind::boolean: return to_lower(text) == "true";
    case ScalarKind::integer: return json_integer(text);
    case ScalarKind::floating: {
      const auto number = std::strtod(text.c_str(), nullptr);
      return text.find_first_of("nN") == std::string::npos ? json(number) : json(text);
    }
    case ScalarKind::string: return text;
    case ScalarKind::other: break;
  }
  throw unreadable_yaml(name, node.Mark(), "a tag that autopack does not support");
}

// Bounds of load_yaml limit the depth. NOLINTNEXTLINE(misc-no-recursion)
json json_value(const YAML::Node& node, const std::string& name) {
  if (node.IsSequence()) {
    auto list = json::array();
    for (const auto& element : node) {
      list.push_back(json_value(element, name));
    }
    return list;
  }
  if (!node.IsMap()) {
    return json_scalar(node, name);
  }
  auto object = json::object();
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) {
      throw unreadable_yaml(name, pair.first.Mark(), "a key that is not a word");
    }
    object[pair.first.Scalar()] = json_value(pair.second, name);
  }
  return object;
}

constexpr std::array<std::string_view, 12> ambiguous_words{
    "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "~"};

/// Returns true if every YAML version reads `text` as this string without quotes.
bool is_plain_yaml(std::string_view text) {
  constexpr std::string_view signs = "-_./@";
  const bool has_letter_first =
      !text.empty() && (is_alphanumeric(text.substr(0, 1)) && !is_digit(text.front()));
  return has_letter_first && is_alphanumeric(text, signs) &&
         !contains(ambiguous_words, to_lower(text));
}

std::string yaml_quoted(const std::string& text) {
  return is_plain_yaml(text) ? text : replace_all(print_json(text), "\x7f", "\\x7f");
}

bool is_yaml_block(const json& value) {
  return value.is_structured() && !value.empty();
}

// The depth is that of our own objects. NOLINTNEXTLINE(misc-no-recursion)
void write_yaml_block(const json& value,
                      std::size_t indent,
                      bool continues_line,
                      std::string& text) {
  const std::string margin(indent, ' ');
  bool is_first = continues_line;
  const auto begin = [&] {
    text += is_first ? "" : margin;
    is_first = false;
  };
  if (value.is_array()) {
    for (const auto& element : value) {
      begin();
      text += "- ";
      if (is_yaml_block(element)) {
        write_yaml_block(element, indent + 2, true, text);
      } else {
        text +=
            (element.is_string() ? yaml_quoted(element.get<std::string>()) : print_json(element)) +
            "\n";
      }
    }
    return;
  }
  for (const auto& [key, element] : value.items()) {
    begin();
    text += yaml_quoted(key) + ":";
    if (is_yaml_block(element)) {
      text += "\n";
      write_yaml_block(element, indent + 2, false, text);
    } else {
      text +=
          " " +
          (element.is_string() ? yaml_quoted(element.get<std::string>()) : print_json(element)) +
          "\n";
    }
  }
}

}  // namespace

json json_of_yaml(const std::string& text, const std::string& name) {
  const auto node = load_document(text, name);
  if (const auto twice = repeated_key(node)) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` has the key `{}` twice: in line {} and line {}", name,
                            printable(twice->key), twice->first_line, twice->second_line));
  }
  return json_value(node, name);
}

std::string yaml_of_json(const json& value) {
  if (!is_yaml_block(value)) {
    return (value.is_string() ? yaml_quoted(value.get<std::string>()) : print_json(value)) + "\n";
  }
  std::string text;
  write_yaml_block(value, 0, false, text);
  return text;
}

}  // namespace autopack::job
