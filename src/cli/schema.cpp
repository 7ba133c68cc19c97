#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/all_flags.hpp"
#include "cli/settings.hpp"
#include "job/pool_flags.hpp"
#include "job/tables.hpp"

namespace autopack::cli {

namespace {

using nlohmann::json;

const json& text_type() {
  static const json type = json::array({"string", "number"});
  return type;
}

json list_schema() {
  return {{"anyOf",
           json::array({{{"type", text_type()}},
                        {{"type", "object"}},
                        {{"type", "array"},
                         {"items", {{"type", json::array({"string", "number", "object"})}}}}})}};
}

json words(std::span<const std::string_view> values) {
  auto list = json::array();
  for (const auto value : values) {
    list.push_back(std::string{value});
  }
  return list;
}

/// Names that are offered, while others stay good.
json suggestions(json values) {
  return {{"anyOf", json::array({{{"enum", std::move(values)}}, {{"type", "string"}}})}};
}

json machine_types() {
  auto names = json::array();
  for (const auto& machine : job::tables::machines()) {
    names.push_back(std::string{machine.name});
  }
  return names;
}

json pools_schema() {
  auto keys = json::object();
  for (const auto key : job::pool_keys()) {
    const std::string name{key};
    if (name == "machine-type") {
      keys[name] = suggestions(machine_types());
    } else if (name == "accelerator-type") {
      keys[name] = suggestions(words(job::tables::accelerator_types()));
    } else if (name.ends_with("-count")) {
      keys[name] = {{"type", json::array({"integer", "string"})}};
    } else {
      keys[name] = {
          {"anyOf", json::array({{{"type", text_type()}},
                                 {{"type", "array"}, {"items", {{"type", text_type()}}}}})}};
    }
  }
  const json pool{
      {"type", "object"}, {"properties", std::move(keys)}, {"additionalProperties", false}};
  return {{"type", "array"}, {"items", {{"anyOf", json::array({pool, {{"type", "string"}}})}}}};
}

json schema_of(const FlagHelp& flag) {
  if (flag.long_name == "--worker-pool-spec") {
    return pools_schema();
  }
  if (flag.long_name == "--config") {
    return {{"type", json::array({"string", "object"})}};
  }
  if (flag.long_name == "--region") {
    return suggestions(words(job::tables::regions()));
  }
  switch (flag.kind) {
    case FlagKind::toggle:
    case FlagKind::choice: return {{"type", "boolean"}};
    case FlagKind::number:
    case FlagKind::count: return {{"type", "integer"}};
    case FlagKind::list: return list_schema();
    case FlagKind::text: break;
  }
  if (!flag.values.empty()) {
    return flag.open ? suggestions(flag.values) : json{{"enum", flag.values}};
  }
  return {{"type", text_type()}};
}

}  // namespace

std::string settings_schema() {
  auto properties = json::object();
  for (const auto& flag : flags_of_all_commands()) {
    if (may_stand_in_file(flag.long_name)) {
      auto schema = schema_of(flag);
      schema["description"] = flag.text;
      properties[flag.long_name.substr(2)] = std::move(schema);
    }
  }
  const json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"title", "autopack.yaml: settings of autopack"},
                    {"type", "object"},
                    {"properties", std::move(properties)},
                    {"additionalProperties", false}};
  return print_json(schema, 2) + "\n";
}

}  // namespace autopack::cli
