#include "job/config_scalar.hpp"

#include "base/contains.hpp"

#include <algorithm>
#include <array>

namespace autopack::job {

namespace {

constexpr std::string_view digits = "0123456789";

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return contains(words, text);
}

std::string_view without_sign(std::string_view text) {
  return text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
}

bool is_integer(std::string_view text) {
  if (text.starts_with("0x")) {
    return text.size() > 2 &&
           text.substr(2).find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  }
  if (text.starts_with("0o")) {
    return text.size() > 2 &&
           text.substr(2).find_first_not_of("01234567") == std::string_view::npos;
  }
  text = without_sign(text);
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

bool is_floating(std::string_view text) {
  text = without_sign(text);
  if (is_one_of(text, {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"})) {
    return true;
  }
  const auto exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos &&
      (text.substr(exponent + 1).starts_with("0x") || !is_integer(text.substr(exponent + 1)))) {
    return false;
  }
  const auto mantissa = text.substr(0, exponent);
  return mantissa.find_first_of(digits) != std::string_view::npos &&
         mantissa.find_first_not_of("0123456789.") == std::string_view::npos &&
         std::ranges::count(mantissa, '.') <= 1;
}

}  // namespace

ScalarKind scalar_kind(const YAML::Node& node) {
  if (node.IsNull()) {
    return ScalarKind::null;
  }
  if (!node.IsScalar()) {
    return ScalarKind::other;
  }
  const auto& tag = node.Tag();
  if (tag == "!" || tag == "tag:yaml.org,2002:str") {
    return ScalarKind::string;
  }
  if (!tag.empty() && tag != "?") {
    return ScalarKind::other;
  }
  const std::string_view text = node.Scalar();
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) {
    return ScalarKind::null;
  }
  if (is_one_of(text, {"true", "True", "TRUE", "false", "False", "FALSE"})) {
    return ScalarKind::boolean;
  }
  if (is_integer(text)) {
    return ScalarKind::integer;
  }
  return is_floating(text) ? ScalarKind::floating : ScalarKind::string;
}

std::string describe_node(const YAML::Node& node) {
  if (node.IsMap()) {
    return "a mapping";
  }
  if (node.IsSequence()) {
    return "a list";
  }
  switch (scalar_kind(node)) {
    case ScalarKind::null: return "empty";
    case ScalarKind::boolean: return "a boolean";
    case ScalarKind::integer: return "a whole number";
    case ScalarKind::floating: return "a number";
    case ScalarKind::string: return "a string";
    case ScalarKind::other: break;
  }
  return "a value tagged `" + node.Tag() + "`";
}

}  // namespace autopack::job
