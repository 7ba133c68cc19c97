#include "job/config_reader.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "job/config_scalar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace autopack::job {

using nlohmann::json;
using tables::Field;
using tables::Message;
using tables::Type;

namespace {

/// Aliases may expand to more than the text contains; no job is this big.
constexpr std::size_t most_values = 100'000;

}  // namespace

std::string camel_case(std::string_view name) {
  std::string result;
  bool raise = false;
  for (const char c : name) {
    if (c == '_') {
      raise = !result.empty();
      continue;
    }
    result += raise && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    raise = false;
  }
  return result;
}

Origin ConfigReader::origin_of(const YAML::Node& node) const {
  return node.Mark().is_null() ? Origin::file(name_) : Origin::file(name_, node.Mark().line + 1);
}

void ConfigReader::fault(const YAML::Node& node, std::string text, std::vector<std::string> hints) {
  problems_.push_back({.message = std::move(text),
                       .origin = to_string(origin_of(node)),
                       .hints = std::move(hints)});
}

std::string ConfigReader::shown(std::string_view path) const {
  if (path.starts_with(hidden_)) {
    path.remove_prefix(std::min(path.size(), hidden_.size() + (hidden_.empty() ? 0 : 1)));
  }
  return fmt::format("`{}`", path.empty() ? name_ : path);
}

void ConfigReader::mismatch(const YAML::Node& node,
                            std::string_view wanted,
                            const std::string& path) {
  std::vector<std::string> hints;
  if (wanted == "a string" && node.IsScalar()) {
    hints.emplace_back("quote it to make it a string");
  }
  fault(node, fmt::format("{} is {}, not {}", shown(path), describe_node(node), wanted),
        std::move(hints));
}

const Field* ConfigReader::known_field(const YAML::Node& key,
                                       const Message& message,
                                       const std::string& path) {
  if (!key.IsScalar()) {
    fault(key, fmt::format("a key in {} is {}, not a string", shown(path), describe_node(key)));
    return nullptr;
  }
  if (key.Scalar() == "<<") {
    fault(key, fmt::format("{} uses a merge key `<<`, which is not supported", shown(path)));
    return nullptr;
  }
  const auto* const field = tables::find_field(message, camel_case(key.Scalar()));
  if (field == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& candidate : message.fields) {
      names.push_back(candidate.name);
    }
    fault(key, fmt::format("unknown key `{}` in {}{}", printable(key.Scalar()), message.name,
                           tables::did_you_mean(camel_case(key.Scalar()), names)));
  }
  return field;
}

json ConfigReader::read_message(const YAML::Node& node,
                                const Message& message,
                                const std::string& path) {
  auto result = json::object();
  if (!node.IsMap()) {
    mismatch(node, "a mapping", path);
    return result;
  }
  std::set<std::string_view> seen;
  for (const auto& pair : node) {
    const auto* const field = known_field(pair.first, message, path);
    if (field == nullptr) {
      continue;
    }
    const auto child = (path.empty() ? "" : path + ".") + std::string{field->name};
    if (!seen.insert(field->name).second) {
      fault(pair.first, fmt::format("{} is given twice", shown(child)));
      continue;
    }
    if (field->type == Type::output) {
      problems_.push_back(Problem::warning(
          {.message = fmt::format("{} is set by the service and is left out", shown(child)),
           .origin = to_string(origin_of(pair.first))}));
      continue;
    }
    if (!pair.second.IsNull()) {
      origins_[child] = origin_of(pair.first);
    }
    auto value = field->list    ? read_list(pair.second, *field, child)
                 : field->keyed ? read_keyed(pair.second, *field, child)
                                : read_value(pair.second, *field, child);
    if (!value.is_null()) {
      result[std::string{field->name}] = std::move(value);
    }
  }
  return result;
}

json ConfigReader::read_list(const YAML::Node& node, const Field& field, const std::string& path) {
  if (node.IsNull()) {
    return nullptr;
  }
  // gcloud's help writes a single pool without its dash, and gcloud accepts it
  if (node.IsMap() && field.type == Type::message) {
    auto item = read_value(node, field, path + "[0]");
    origins_[path + "[0]"] = origin_of(node);
    return json::array({std::move(item)});
  }
  if (!node.IsSequence()) {
    mismatch(node, "a list", path);
    return nullptr;
  }
  auto result = json::array();
  for (std::size_t i = 0; i < node.size(); ++i) {
    const auto child = fmt::format("{}[{}]", path, i);
    origins_[child] = origin_of(node[i]);
    auto item = read_value(node[i], field, child);
    if (field.type == Type::message && item.is_null()) {
      item = json::object();
    }
    if (!item.is_null()) {
      result.push_back(std::move(item));
    } else if (node[i].IsNull()) {
      mismatch(node[i], "a string", child);
    }
  }
  return result;
}

void ConfigReader::count_value() {
  if (++values_ > most_values) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` contains more than {} values", name_, most_values));
  }
}

json ConfigReader::read_value(const YAML::Node& node, const Field& field, const std::string& path) {
  count_value();
  if (node.IsNull()) {
    return nullptr;
  }
  if (field.type == Type::message) {
    return read_message(node, tables::message(field.message), path);
  }
  if (field.type == Type::any) {
    return read_any(node, path);
  }
  return field.type == Type::string_map ? read_map(node, path) : read_scalar(node, field, path);
}

json ConfigReader::read_keyed(const YAML::Node& node, const Field& field, const std::string& path) {
  if (node.IsNull()) {
    return nullptr;
  }
  auto result = json::object();
  if (!node.IsMap()) {
    mismatch(node, "a mapping", path);
    return result;
  }
  for (const auto& pair : node) {
    const auto key = pair.first.as<std::string>("");
    const auto child = path + "." + key;
    origins_[child] = origin_of(pair.first);
    auto value = read_value(pair.second, field, child);
    if (value.is_null()) {
      value = json::object();
    }
    result[key] = std::move(value);
  }
  return result;
}

json ConfigReader::read_map(const YAML::Node& node, const std::string& path) {
  auto result = json::object();
  if (!node.IsMap()) {
    mismatch(node, "a mapping", path);
    return result;
  }
  for (const auto& pair : node) {
    if (!pair.first.IsScalar() || scalar_kind(pair.second) != ScalarKind::string) {
      mismatch(pair.second, "a string", path + "." + pair.first.as<std::string>("?"));
      continue;
    }
    const auto& key = pair.first.Scalar();
    if (result.contains(key)) {
      fault(pair.first, fmt::format("key `{}` is given twice in {}", printable(key), shown(path)));
    }
    origins_[path + "." + key] = origin_of(pair.first);
    result[key] = pair.second.Scalar();
  }
  return result;
}

}  // namespace autopack::job
