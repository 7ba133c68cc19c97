#include "job/settings_file.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "job/config_scalar.hpp"
#include "job/settings_blocks.hpp"
#include "job/yaml.hpp"
#include "packaging/settings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::job {

namespace {

constexpr std::string_view pools_key{"worker-pool-spec"};
constexpr std::string_view config_key{"config"};
constexpr std::string_view environment_key{"build-env"};

[[noreturn]] void refuse(const std::string& file, int line, const std::string& what) {
  throw Error(ErrorKind::usage, fmt::format("`{}` line {}: {}", printable(file), line, what));
}

enum class Depth { setting, below };

/// Converts `node` with each scalar as the text in the file: `3.10` is not a number, and the
/// argument `True` is not `true`. Only a setting itself may be true or false.
nlohmann::json to_json(const YAML::Node& node, Depth depth) {
  if (node.IsSequence()) {
    auto list = nlohmann::json::array();
    for (const auto& element : node) {
      list.push_back(to_json(element, Depth::below));
    }
    return list;
  }
  if (node.IsMap()) {
    auto object = nlohmann::json::object();
    for (const auto& pair : node) {
      object[pair.first.Scalar()] = to_json(pair.second, Depth::below);
    }
    return object;
  }
  switch (scalar_kind(node)) {
    case ScalarKind::null: return nullptr;
    case ScalarKind::boolean:
      if (depth == Depth::setting) {
        return to_lower(node.Scalar()) == "true";
      }
      return node.Scalar();
    default: return node.Scalar();
  }
}

/// Returns the text of `node` at its line and column in the file.
std::string in_place(std::string_view text, const YAML::Node& node, std::size_t end) {
  const auto mark = node.Mark();
  const auto begin = static_cast<std::size_t>(mark.pos);
  return std::string(static_cast<std::size_t>(mark.line), '\n') +
         std::string(static_cast<std::size_t>(mark.column), ' ') +
         std::string{text.substr(begin, std::max(end, begin) - begin)};
}

/// Writes `node` as flow YAML, each scalar as in the file: `3.10` stays a number with two digits.
std::string flow_text(const YAML::Node& node) {
  if (node.IsSequence()) {
    std::vector<std::string> elements;
    for (const auto& element : node) {
      elements.push_back(flow_text(element));
    }
    return "[" + join(elements, ", ") + "]";
  }
  if (node.IsMap()) {
    std::vector<std::string> pairs;
    for (const auto& pair : node) {
      pairs.push_back(print_json(pair.first.Scalar()) + ": " + flow_text(pair.second));
    }
    return "{" + join(pairs, ", ") + "}";
  }
  const auto kind = scalar_kind(node);
  const bool is_text = kind == ScalarKind::string || kind == ScalarKind::other;
  return is_text ? print_json(node.Scalar()) : kind == ScalarKind::null ? "null" : node.Scalar();
}

/// Reads the settings of a file, of its blocks and of its targets.
class SettingsReader {
public:
  SettingsReader(std::string_view text,
                 const std::string& file,
                 std::vector<project::ToolSetting>& into)
      : text_{text}, file_{file}, into_{into} {}

  /// Reads a mapping of settings; `target` is empty for the file's own.
  void read(const YAML::Node& node, const std::string& target) {
    for (auto pair = node.begin(); pair != node.end(); ++pair) {
      const auto& key = pair->first.Scalar();
      const int line = line_of(pair->first);
      if (key == targets_key) {
        refuse_nested(key, target, file_, line);
        read_targets(pair->second, line);
      } else if (is_block(key)) {
        read_block(key, pair->second, line, target);
      } else if (key == config_key && pair->second.IsMap()) {
        auto next = pair;
        const bool is_last = ++next == node.end();
        const bool is_own = target.empty();
        const auto end = is_last ? text_.size() : static_cast<std::size_t>(next->first.Mark().pos);
        add(key, is_own ? in_place(text_, pair->second, end) : document(pair->second), line, target,
            true);
      } else {
        add(key, to_json(pair->second, Depth::setting), line, target, false);
      }
    }
  }

private:
  static int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

  /// Returns the text of `node` on its line of the file.
  static std::string document(const YAML::Node& node) {
    return std::string(static_cast<std::size_t>(node.Mark().line), '\n') + flow_text(node);
  }

  void read_targets(const YAML::Node& node, int line) {
    if (!node.IsMap()) {
      refuse(file_, line, "`targets` maps names to settings");
    }
    for (const auto& pair : node) {
      if (!pair.second.IsMap()) {
        refuse(file_, line_of(pair.first),
               fmt::format("the target `{}` is an object of settings",
                           printable(pair.first.Scalar())));
      }
      if (pair.first.Scalar().empty()) {
        refuse(file_, line_of(pair.first), "a target has a name");
      }
      read(pair.second, pair.first.Scalar());
    }
  }

  void read_block(const std::string& block,
                  const YAML::Node& node,
                  int line,
                  const std::string& target) {
    if (!node.IsMap()) {
      refuse(file_, line, fmt::format("`{}` is an object", block));
    }
    for (const auto& pair : node) {
      const int own = line_of(pair.first);
      const auto& row = find_block_key(block, pair.first.Scalar(), file_, own);
      const bool is_document = row.is_document && pair.second.IsMap();
      add(std::string{row.flag},
          is_document ? nlohmann::json(document(pair.second))
                      : to_json(pair.second, Depth::setting),
          own, target, is_document);
    }
  }

  void add(std::string key,
           nlohmann::json value,
           int line,
           const std::string& target,
           bool is_document) {
    into_.push_back({.key = std::move(key),
                     .value = std::make_shared<nlohmann::json>(std::move(value)),
                     .file = file_,
                     .line = line,
                     .is_document = is_document,
                     .target = target});
  }

  std::string_view text_;
  const std::string& file_;
  std::vector<project::ToolSetting>& into_;
};

std::string scalar_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string text_or_nothing(const nlohmann::json& value) {
  return value.is_null() ? "" : scalar_text(value);
}

std::vector<std::string> variables(const nlohmann::json& object) {
  std::vector<std::string> pairs;
  for (const auto& [name, value] : object.items()) {
    pairs.push_back(name + "=" + text_or_nothing(value));
  }
  return pairs;
}

KeyValue key_value(const project::ToolSetting& setting,
                   const std::string& key,
                   const nlohmann::json& value) {
  if (value.is_array()) {
    std::vector<std::string> elements;
    for (const auto& element : value) {
      elements.push_back(scalar_text(element));
    }
    return elements;
  }
  if (value.is_object() && key == environment_key) {
    return variables(value);
  }
  if (value.is_object()) {
    refuse(setting.file, setting.line,
           fmt::format("`{}` of `{}` is text or a list", printable(key), setting.key));
  }
  return text_or_nothing(value);
}

FlagValue object_value(const project::ToolSetting& setting, const nlohmann::json& object) {
  KeyValues keys;
  for (const auto& [key, value] : object.items()) {
    keys.emplace_back(key, key_value(setting, key, value));
  }
  return FlagValue::object(std::move(keys));
}

FlagValue element_value(const project::ToolSetting& setting, const nlohmann::json& element) {
  if (element.is_object()) {
    return object_value(setting, element);
  }
  if (element.is_array()) {
    refuse(setting.file, setting.line,
           fmt::format("an element of `{}` is text or an object", setting.key));
  }
  return setting.key == pools_key ? FlagValue{scalar_text(element)}
                                  : FlagValue::element(scalar_text(element));
}

}  // namespace

std::vector<project::ToolSetting> read_settings_file(std::string_view text,
                                                     const std::string& file) {
  YAML::Node root;
  try {
    root = load_yaml(std::string{text});
  } catch (const YAML::Exception& error) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` line {}, column {} is not valid YAML: {}", printable(file),
                            error.mark.line + 1, error.mark.column + 1, error.msg));
  }
  std::vector<project::ToolSetting> settings;
  if (!root.IsDefined() || root.IsNull()) {
    return settings;
  }
  if (!root.IsMap()) {
    refuse(file, root.Mark().line + 1, "expected `flag: value`");
  }
  if (const auto repeated = repeated_key(root)) {
    refuse(file, repeated->second_line,
           fmt::format("`{}` is given twice, first on line {}", printable(repeated->key),
                       repeated->first_line));
  }
  SettingsReader{text, file, settings}.read(root, "");
  return settings;
}

FlagValues flag_values(const project::ToolSetting& setting) {
  const auto& value = *setting.value;
  if (value.is_null()) {
    refuse(setting.file, setting.line, fmt::format("`{}` has no value", setting.key));
  }
  if (setting.is_document) {
    return {FlagValue::document(scalar_text(value))};
  }
  if (setting.key == config_key && value.is_object()) {
    return {FlagValue::document(std::string(static_cast<std::size_t>(setting.line - 1), '\n') +
                                value.dump())};
  }
  if (value.is_object()) {
    return {object_value(setting, value)};
  }
  if (!value.is_array()) {
    return {FlagValue{scalar_text(value)}};
  }
  FlagValues values;
  for (const auto& element : value) {
    values.push_back(element_value(setting, element));
  }
  return values;
}

std::vector<project::ToolSetting> spread_packaging(std::vector<project::ToolSetting> settings) {
  const auto find = [&](std::string_view key) {
    return std::ranges::find_if(settings, [&](const auto& setting) { return setting.key == key; });
  };
  std::vector<std::string> keys;
  for (const auto& setting : packaging::settings) {
    if (setting.is_pool_key()) {
      keys.emplace_back(setting.key);
    }
  }
  auto packaging = nlohmann::json::object();
  int line = 0;
  for (const auto& key : keys) {
    if (const auto found = find(key); found != settings.end()) {
      packaging[key] = *found->value;
      line = line == 0 ? found->line : line;
    }
  }
  const auto pools = find(pools_key);
  if (pools == settings.end()) {
    const bool has_command =
        find("command") != settings.end() && packaging.contains("executor-image-uri");
    const bool has_entry = packaging.contains("script") || packaging.contains("python-module") ||
                           (has_command && packaging.contains("local-package-path"));
    if (has_entry) {
      packaging.emplace("local-package-path", ".");
      settings.push_back(
          {.key = std::string{pools_key},
           .value = std::make_shared<nlohmann::json>(nlohmann::json::array({packaging})),
           .file = settings.front().file,
           .line = line});
    }
    return settings;
  }
  auto list = pools->value->is_array() ? *pools->value : nlohmann::json::array({*pools->value});
  std::vector<project::ToolSetting> of_pool;
  for (auto& pool : list) {
    if (!pool.is_object() || pool.contains("container-image-uri")) {
      continue;
    }
    for (const auto& [key, value] : packaging.items()) {
      pool.emplace(key, value);
    }
    if (pool.contains("script") || pool.contains("python-module")) {
      pool.emplace("local-package-path", ".");
    }
    for (const auto& key : keys) {
      if (pool.contains(key) && !packaging.contains(key)) {
        of_pool.push_back({.key = key,
                           .value = std::make_shared<nlohmann::json>(pool.at(key)),
                           .file = pools->file,
                           .line = pools->line});
      }
    }
    break;
  }
  pools->value = std::make_shared<nlohmann::json>(std::move(list));
  settings.insert(settings.end(), of_pool.begin(), of_pool.end());
  return settings;
}

}  // namespace autopack::job
