#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "job/settings_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::job {

namespace {

/// A scalar as YAML: plain where nothing else could be read from it, else in double quotes, which
/// mean the same in JSON.
std::string yaml_scalar(const nlohmann::json& value) {
  if (!value.is_string()) {
    return value.dump();
  }
  const auto text = value.get<std::string>();
  const bool is_plain =
      !text.empty() && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z')) &&
      text.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=@") ==
          std::string::npos;
  static const std::vector<std::string> words{"true", "false", "null", "yes", "no",
                                              "on",   "off",   "y",    "n"};
  const bool is_word = std::find(words.begin(), words.end(), to_lower(text)) != words.end();
  return is_plain && !is_word ? text : print_json(value);
}

std::string yaml_entry(const std::string& key, const nlohmann::json& value) {
  if (!value.is_array()) {
    return fmt::format("{}: {}\n", key, yaml_scalar(value));
  }
  if (value.empty()) {
    return fmt::format("{}: []\n", key);
  }
  std::string text = key + ":\n";
  for (const auto& element : value) {
    if (!element.is_object()) {
      text += fmt::format("  - {}\n", yaml_scalar(element));
      continue;
    }
    const char* mark = "- ";
    for (const auto& [name, inner] : element.items()) {
      text += fmt::format("  {}{}: {}\n", mark, name, yaml_scalar(inner));
      mark = "  ";
    }
    text += element.empty() ? "  - {}\n" : "";
  }
  return text;
}

}  // namespace

std::string save_settings(const std::string& text,
                          const std::string& file,
                          const std::vector<std::pair<std::string, nlohmann::json>>& added) {
  const auto there = read_settings_file(text, file);
  Problems problems;
  std::string result = text;
  if (!result.empty() && !result.ends_with('\n')) {
    result += '\n';
  }
  for (const auto& [key, value] : added) {
    const auto found = std::find_if(there.begin(), there.end(), [&name = key](const auto& setting) {
      return setting.key == name;
    });
    if (found == there.end()) {
      result += yaml_entry(key, value);
      continue;
    }
    const project::ToolSetting wanted{.key = key, .value = std::make_shared<nlohmann::json>(value)};
    if (flag_values(*found) != flag_values(wanted)) {
      problems.push_back(
          {.message = fmt::format("`{}` holds another value of `{}`, which `--save` leaves alone",
                                  printable(file), key),
           .origin = fmt::format("{}:{}", printable(file), found->line),
           .hints = {"change that line by hand, or leave the flag out"}});
    }
  }
  throw_if_errors(problems, ErrorKind::usage);
  return result == text + '\n' ? text : result;
}

}  // namespace autopack::job
