#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "job/settings_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace autopack::job {

namespace {

/// Writes a scalar as YAML: plain if that is unambiguous, else in double quotes, which are also
/// valid JSON.
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
  const bool is_word = contains(words, to_lower(text));
  return is_plain && !is_word ? text : print_json(value);
}

/// Returns the parts of a value by name: keys of objects, names before `=`, else indexes from 1.
std::map<std::string, std::string> parts(const nlohmann::json& value, const std::string& name) {
  std::map<std::string, std::string> all;
  if (!value.is_structured()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const auto equals = text.find('=');
    const bool is_pair = !name.empty() && equals != std::string::npos && equals > 0;
    all[is_pair ? text.substr(0, equals) : name] = text.substr(is_pair ? equals + 1 : 0);
    return all;
  }
  std::size_t place = 0;
  for (const auto& [key, inner] : value.items()) {
    const std::string own = value.is_object() ? key : std::to_string(++place);
    const std::string above = inner.is_structured() && value.is_array() ? own + "." : "";
    for (const auto& [path, text] : parts(inner, own)) {
      all[fmt::format("{}{}", above, path)] = text;
    }
  }
  return all;
}

/// Describes the differences between `there` and `wanted`. Names only the keys of list elements,
/// because the values may be secrets.
std::string difference(const nlohmann::json& there, const nlohmann::json& wanted) {
  const auto old_parts = parts(there, "");
  const auto new_parts = parts(wanted, "");
  if (!there.is_structured() && !wanted.is_structured()) {
    return fmt::format("`{}` there, `{}` typed", printable(old_parts.begin()->second),
                       printable(new_parts.begin()->second));
  }
  std::vector<std::string> names;
  for (const auto* all : {&old_parts, &new_parts}) {
    const auto& other = all == &old_parts ? new_parts : old_parts;
    for (const auto& [name, text] : *all) {
      const auto found = other.find(name);
      const bool same = found != other.end() && found->second == text;
      if (!same && !contains(names, name)) {
        names.push_back(name);
      }
    }
  }
  return names.empty()
             ? "in another order"
             : fmt::format("`{}` differ{}", join(names, "`, `"), names.size() == 1 ? "s" : "");
}

bool say_same(const FlagValues& some, const FlagValues& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const FlagValue& a, const FlagValue& b) { return a.says_same(b); });
}

Problem refusal(const project::ToolSetting& there, const project::ToolSetting& wanted) {
  const auto& value = *wanted.value;
  Problem problem{
      .message = fmt::format("`{}` has another `{}`, and `--save` only adds: {}",
                             printable(there.file), there.key, difference(*there.value, value)),
      .origin = fmt::format("{}:{}", printable(there.file), there.line)};
  if (value.is_structured()) {
    problem.hints.push_back(fmt::format(
        "to write it again, remove `{}` and its lines from line {} on", there.key, there.line));
  } else {
    problem.hints.push_back(fmt::format("to replace it, make line {}: {}: {}", there.line,
                                        there.key, yaml_scalar(value)));
  }
  problem.hints.push_back(fmt::format("to keep it, leave `--{}` out", there.key));
  return problem;
}

/// The appended lines must parse as keys of the same mapping. They do not if the file's keys are
/// indented, or if the file is one value in braces or has an end marker.
void check_saved(const std::string& text,
                 const std::string& file,
                 const std::vector<std::pair<std::string, nlohmann::json>>& added) {
  std::vector<std::string> keys;
  try {
    for (const auto& setting : read_settings_file(text, file)) {
      if (setting.target.empty()) {
        keys.push_back(setting.key);
      }
    }
  } catch (const Error&) {
    keys.clear();
  }
  const bool all =
      std::ranges::all_of(added, [&](const auto& entry) { return contains(keys, entry.first); });
  if (!all) {
    throw Error(ErrorKind::usage,
                fmt::format("`--save` cannot add to `{}` as it is written", printable(file)))
        .hint("write each key at the start of a line of its own");
  }
}

}  // namespace

std::string settings_entry(const std::string& key, const nlohmann::json& value) {
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

std::string save_settings(const std::string& text,
                          const std::string& file,
                          const std::vector<std::pair<std::string, nlohmann::json>>& added) {
  auto there = read_settings_file(text, file);
  std::erase_if(there, [](const auto& setting) { return !setting.target.empty(); });
  Problems problems;
  std::string result = text;
  if (!result.empty() && !result.ends_with('\n')) {
    result += '\n';
  }
  for (const auto& [key, value] : added) {
    const auto found = std::ranges::find_if(
        there, [&name = key](const auto& setting) { return setting.key == name; });
    if (found == there.end()) {
      result += settings_entry(key, value);
      continue;
    }
    const project::ToolSetting wanted{.key = key, .value = std::make_shared<nlohmann::json>(value)};
    if (!say_same(flag_values(*found), flag_values(wanted))) {
      problems.push_back(refusal(*found, wanted));
    }
  }
  throw_if_errors(problems, ErrorKind::usage);
  check_saved(result, file, added);
  return result == text + '\n' ? text : result;
}

}  // namespace autopack::job
