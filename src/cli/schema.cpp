#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/all_flags.hpp"
#include "cli/settings.hpp"
#include "job/pool_flags.hpp"
#include "job/settings_blocks.hpp"
#include "job/tables.hpp"

#include <algorithm>

namespace autopack::cli {

namespace {

using nlohmann::json;

const json& text_type() {
  static const json type = json::array({"string", "number"});
  return type;
}

json any_of(std::initializer_list<json> schemas) {
  return {{"anyOf", json(schemas)}};
}

json list_of(json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

const json& word_type() {
  static const json type = json::array({"string", "number", "boolean"});
  return type;
}

/// `KEY: VALUE`, where a value may be a list or null.
json pairs_schema() {
  const json nothing{{"type", "null"}};
  const json word{{"type", word_type()}};
  return {{"type", "object"}, {"additionalProperties", any_of({word, nothing, list_of(word)})}};
}

json list_schema() {
  return any_of({{{"type", text_type()}},
                 pairs_schema(),
                 list_of(any_of({{{"type", word_type()}}, pairs_schema()}))});
}

/// YAML does not distinguish a number from the same text in quotes.
json number_schema() {
  return any_of({{{"type", "integer"}}, {{"type", "string"}, {"pattern", "^-?[0-9]+$"}}});
}

json truth_schema() {
  return any_of(
      {{{"type", "boolean"}}, {{"enum", {"true", "false", "yes", "no", "on", "off", "1", "0"}}}});
}

json words(std::span<const std::string_view> values) {
  auto list = json::array();
  for (const auto value : values) {
    list.push_back(std::string{value});
  }
  return list;
}

/// Suggested names; other names are valid, too.
json suggestions(json values) {
  return any_of({{{"enum", std::move(values)}}, {{"type", text_type()}}});
}

/// Accepts a value, or a list of them that is not empty.
json with_list(const json& value) {
  auto list = list_of(value);
  list["minItems"] = 1;
  return any_of({value, list});
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
    } else {
      const json word{{"type", word_type()}};
      keys[name] =
          name == "build-env" ? list_schema() : any_of({word, {{"type", "null"}}, list_of(word)});
    }
  }
  const json pool{
      {"type", "object"}, {"properties", std::move(keys)}, {"additionalProperties", false}};
  const json text{{"type", text_type()}};
  return any_of({list_of(any_of({pool, text})), pool, text});
}

json schema_of(const FlagHelp& flag) {
  if (flag.long_name == "--worker-pool-spec") {
    return pools_schema();
  }
  if (flag.long_name == "--config") {
    return {{"type", json::array({"string", "number", "object"})}};
  }
  if (flag.long_name == "--region") {
    return with_list(suggestions(words(job::tables::regions())));
  }
  if (flag.long_name == "--machine-type") {
    return suggestions(machine_types());
  }
  if (flag.long_name == "--accelerator-type") {
    return with_list(suggestions(words(job::tables::accelerator_types())));
  }
  switch (flag.kind) {
    case FlagKind::toggle:
      return flag.values.empty() ? truth_schema()
                                 : any_of({truth_schema(), {{"enum", flag.values}}});
    case FlagKind::choice: return truth_schema();
    case FlagKind::number: return number_schema();
    case FlagKind::count:
      return any_of({number_schema(), {{"enum", {true, false, "true", "false"}}}});
    case FlagKind::list: return list_schema();
    case FlagKind::text: break;
  }
  if (flag.values.empty()) {
    return {{"type", text_type()}};
  }
  auto values = json(flag.values);
  if (contains(flag.values, "true")) {
    values.push_back(true);
    values.push_back(false);
  }
  return flag.open ? suggestions(std::move(values)) : json{{"enum", std::move(values)}};
}

/// Adds the blocks of submitters, whose keys are flags, and `targets`.
void add_blocks(json& properties) {
  for (const auto& row : job::block_keys()) {
    const std::string flag{row.flag};
    auto& block = properties[std::string{row.block}];
    block["type"] = "object";
    block["additionalProperties"] = false;
    if (properties.contains(flag)) {
      auto own = properties[flag];
      if (row.is_document) {
        own["type"] = json::array({"string", "object"});
      }
      block["properties"][std::string{row.key}] = std::move(own);
    }
  }
  const json target{
      {"allOf", {{{"$ref", "#"}}, {{"not", {{"required", json::array({"targets"})}}}}}}};
  properties["targets"] = {{"type", "object"},
                           {"additionalProperties", target},
                           {"description", "settings by name, for --to"}};
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
  add_blocks(properties);
  const json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"title", "autopack.yaml: settings of autopack"},
                    {"type", "object"},
                    {"properties", std::move(properties)},
                    {"additionalProperties", false}};
  return print_json(schema, 2) + "\n";
}

}  // namespace autopack::cli
