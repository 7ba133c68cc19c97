#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "job/config_reader.hpp"
#include "job/config_scalar.hpp"
#include "job/flag_values.hpp"
#include "job/resource_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace autopack::job {

using nlohmann::json;
using tables::Field;
using tables::Type;

json ConfigReader::read_scalar(const YAML::Node& node,
                               const Field& field,
                               const std::string& path) {
  const auto kind = scalar_kind(node);
  if (kind == ScalarKind::null) {
    return nullptr;
  }
  const bool is_text = kind == ScalarKind::string;
  switch (field.type) {
    case Type::string:
      if (is_text) {
        return node.Scalar();
      }
      mismatch(node, "a string", path);
      return nullptr;
    case Type::boolean:
      if (kind == ScalarKind::boolean) {
        return to_lower(node.Scalar()) == "true";
      }
      mismatch(node, "`true` or `false`", path);
      return nullptr;
    case Type::duration:
      if (const auto duration = is_text ? api_duration(node.Scalar()) : std::nullopt) {
        return *duration;
      }
      mismatch(node, "a duration such as `3600s`, `2h` or `7d`", path);
      return nullptr;
    case Type::enumeration: return read_enumeration(node, field, path);
    case Type::int32:
    case Type::int64:
      if (kind == ScalarKind::integer || is_text) {
        return read_number(node, field.type, path);
      }
      mismatch(node, "a whole number", path);
      return nullptr;
    case Type::floating: return read_floating(node, path);
    case Type::timestamp:
      if (is_text && is_timestamp(node.Scalar())) {
        return node.Scalar();
      }
      mismatch(node, "a time such as `2026-11-20T12:00:00Z`", path);
      return nullptr;
    case Type::string_map:
    case Type::any:
    case Type::output:
    case Type::message: break;
  }
  throw Error(ErrorKind::internal, fmt::format("`{}` is not a scalar of the schema", field.name));
}

json ConfigReader::read_number(const YAML::Node& node, Type type, const std::string& path) {
  std::string_view text = node.Scalar();
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool outside = type == Type::int32 && (number < std::numeric_limits<std::int32_t>::min() ||
                                               number > std::numeric_limits<std::int32_t>::max());
  if (error == std::errc::result_out_of_range || outside) {
    fault(node, fmt::format("{} is too large: `{}`", shown(path), printable(text)));
    return nullptr;
  }
  if (error != std::errc{} || end != text.data() + text.size()) {
    fault(node, fmt::format("{} is not a decimal number: `{}`", shown(path), printable(text)));
    return nullptr;
  }
  // proto3's JSON writes 64-bit integers as strings
  return type == Type::int64 ? json(std::to_string(number)) : json(number);
}

json ConfigReader::read_enumeration(const YAML::Node& node,
                                    const Field& field,
                                    const std::string& path) {
  if (scalar_kind(node) != ScalarKind::string) {
    mismatch(node, "a string", path);
    return nullptr;
  }
  const auto& text = node.Scalar();
  const bool known = contains(field.values, text);
  if (!known && !field.open) {
    fault(node, fmt::format("{} has no value `{}`{}", shown(path), printable(text),
                            tables::did_you_mean(text, field.values)));
  }
  return text;
}

json ConfigReader::read_floating(const YAML::Node& node, const std::string& path) {
  const auto kind = scalar_kind(node);
  std::string_view text = node.Scalar();
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if ((kind != ScalarKind::integer && kind != ScalarKind::floating) || error != std::errc{} ||
      end != text.data() + text.size() || !std::isfinite(number)) {
    mismatch(node, "a finite decimal number", path);
    return nullptr;
  }
  return number;
}

/// Reads any JSON value, by YAML's core schema.
json ConfigReader::read_any(const YAML::Node& node, const std::string& path) {
  count_value();
  if (node.IsSequence()) {
    auto result = json::array();
    for (std::size_t i = 0; i < node.size(); ++i) {
      result.push_back(read_any(node[i], fmt::format("{}[{}]", path, i)));
    }
    return result;
  }
  if (node.IsMap()) {
    auto result = json::object();
    for (const auto& pair : node) {
      const auto key = pair.first.as<std::string>("");
      result[key] = read_any(pair.second, path + "." + key);
    }
    return result;
  }
  switch (scalar_kind(node)) {
    case ScalarKind::null: return nullptr;
    case ScalarKind::boolean: return to_lower(node.Scalar()) == "true";
    case ScalarKind::floating: return read_floating(node, path);
    case ScalarKind::string: return node.Scalar();
    case ScalarKind::integer: {
      const auto text = read_number(node, Type::int64, path);
      return text.is_string() ? json(std::stoll(text.get<std::string>())) : json{};
    }
    case ScalarKind::other: break;
  }
  mismatch(node, "plain data", path);
  return nullptr;
}

}  // namespace autopack::job
