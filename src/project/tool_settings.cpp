#include "project/tool_settings.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "project/toml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::project {

namespace {

nlohmann::json to_json(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    auto object = nlohmann::json::object();
    for (const auto& [key, value] : *table) {
      object[std::string{key.str()}] = to_json(value);
    }
    return object;
  }
  if (const auto* array = node.as_array()) {
    auto list = nlohmann::json::array();
    for (const auto& element : *array) {
      list.push_back(to_json(element));
    }
    return list;
  }
  if (const auto text = node.value<std::string>()) {
    return *text;
  }
  if (node.is_boolean()) {
    return node.as_boolean()->get();
  }
  if (node.is_integer()) {
    return node.as_integer()->get();
  }
  if (node.is_floating_point()) {
    return node.as_floating_point()->get();
  }
  return nullptr;
}

}  // namespace

std::vector<ToolSetting> read_tool_settings(std::string_view text, const std::string& file) {
  if (text.find("autopack") == std::string_view::npos) {
    return {};
  }
  toml::table whole;
  try {
    whole = parse_toml(text);
  } catch (const toml::parse_error& error) {
    throw Error(ErrorKind::usage, fmt::format("`{}` line {} is not TOML: {}", printable(file),
                                              error.source().begin.line, error.description()));
  }
  std::vector<ToolSetting> settings;
  if (const auto* table = whole["tool"]["autopack"].as_table()) {
    for (const auto& [key, value] : *table) {
      settings.push_back({.key = std::string{key.str()},
                          .value = std::make_shared<nlohmann::json>(to_json(value)),
                          .file = file,
                          .line = static_cast<int>(value.source().begin.line)});
    }
  }
  std::ranges::stable_sort(settings, [](const auto& a, const auto& b) { return a.line < b.line; });
  return settings;
}

}  // namespace autopack::project
