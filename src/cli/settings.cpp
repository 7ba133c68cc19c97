#include "cli/settings.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/all_flags.hpp"
#include "job/flag_values.hpp"
#include "project/tool_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace autopack::cli {

namespace {

using project::ToolSetting;

std::string origin_of(const ToolSetting& setting) {
  return fmt::format("`{}` line {}", printable(setting.file), setting.line);
}

/// Keys that no flag of any command answers to.
void check_keys(const std::vector<ToolSetting>& settings, Problems& problems) {
  if (settings.empty()) {
    return;
  }
  std::vector<std::string> names;
  for (const auto& flag : flags_of_all_commands()) {
    if (may_stand_in_file(flag.long_name)) {
      names.push_back(flag.long_name.substr(2));
    }
  }
  for (const auto& setting : settings) {
    if (std::find(names.begin(), names.end(), setting.key) != names.end()) {
      continue;
    }
    Problem problem{.message = fmt::format("there is no setting `{}`", printable(setting.key)),
                    .origin = fmt::format("{}:{}", printable(setting.file), setting.line)};
    if (const auto near = nearest(replace_all(setting.key, "_", "-"), names)) {
      problem.hints.push_back(fmt::format("did you mean `{}`?", *near));
    }
    problems.push_back(std::move(problem));
  }
}

/// True when a variable of gcloud, which wins over files, says the same thing.
bool is_overruled(const std::string& key, const Environment& environment) {
  static const std::multimap<std::string, const char*> variables{
      {"project", "CLOUDSDK_CORE_PROJECT"},
      {"project", "GOOGLE_CLOUD_PROJECT"},
      {"region", "CLOUDSDK_AI_REGION"},
      {"account", "CLOUDSDK_CORE_ACCOUNT"},
      {"configuration", "CLOUDSDK_ACTIVE_CONFIG_NAME"},
      {"access-token-file", "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"},
      {"impersonate-service-account", "CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT"}};
  const auto [first, last] = variables.equal_range(key);
  return std::any_of(first, last,
                     [&](const auto& row) { return environment.get(row.second).has_value(); });
}

void add(std::vector<FlagSetting>& all,
         std::vector<ToolSetting> settings,
         const Environment& environment,
         Problems& problems) {
  check_keys(settings, problems);
  std::erase_if(settings, [&](const auto& one) { return is_overruled(one.key, environment); });
  for (const auto& setting : job::spread_packaging(std::move(settings))) {
    all.push_back({.flag = "--" + setting.key,
                   .values = job::flag_values(setting),
                   .origin = origin_of(setting)});
  }
}

std::vector<ToolSetting> settings_of_project(const std::filesystem::path& named) {
  const std::string own = named.empty() ? settings_file_name : named.string();
  const auto yaml = read_file_if_exists(own);
  if (!named.empty() && !yaml) {
    throw Error(ErrorKind::usage,
                fmt::format("`--config` names `{}`, which does not exist", printable(own)));
  }
  const auto toml = named.empty() ? read_file_if_exists("pyproject.toml") : std::nullopt;
  auto of_toml =
      toml ? project::read_tool_settings(*toml, "pyproject.toml") : std::vector<ToolSetting>{};
  if (yaml && !of_toml.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("settings stand in `{}` and in `pyproject.toml` line {}", own,
                            of_toml.front().line))
        .hint("keep one of the two");
  }
  return yaml ? job::read_settings_file(*yaml, own) : of_toml;
}

/// What a typed flag's values are in a file.
nlohmann::json to_json(const FlagHelp& flag, const std::vector<std::string>& values) {
  Problems problems;
  switch (flag.kind) {
    case FlagKind::toggle:
    case FlagKind::choice: return to_lower(values.back()) != "false";
    case FlagKind::list: break;
    default: return values.back();
  }
  auto list = nlohmann::json::array();
  for (const auto& value : values) {
    if (flag.long_name != "--worker-pool-spec") {
      for (const auto& element : job::split_list(value, flag.long_name, problems)) {
        list.push_back(element);
      }
      continue;
    }
    auto pool = nlohmann::json::object();
    for (const auto& [key, text] : job::split_pairs(value, flag.long_name, problems)) {
      pool[key] = text;
    }
    list.push_back(std::move(pool));
  }
  throw_if_errors(problems, ErrorKind::usage);
  return list;
}

}  // namespace

std::filesystem::path user_settings_file(const Environment& environment) {
  const auto directory = environment.get("XDG_CONFIG_HOME");
  return (directory ? std::filesystem::path{*directory} : environment.home() / ".config") /
         "autopack" / "config.yaml";
}

std::vector<FlagSetting> find_settings(const Environment& environment,
                                       const std::filesystem::path& named) {
  std::vector<FlagSetting> all;
  Problems problems;
  add(all, settings_of_project(named), environment, problems);
  const auto user = user_settings_file(environment);
  if (const auto text = read_file_if_exists(user)) {
    add(all, job::read_settings_file(*text, user.string()), environment, problems);
  }
  throw_if_errors(problems, ErrorKind::usage);
  return all;
}

std::vector<std::string> save_settings(const FlagSet& flags) {
  const auto toml = read_file_if_exists("pyproject.toml");
  if (toml && !project::read_tool_settings(*toml, "pyproject.toml").empty()) {
    throw Error(ErrorKind::usage,
                "`--save` writes `autopack.yaml`, but the settings are in `pyproject.toml`")
        .hint("add the flags to `[tool.autopack]` by hand");
  }
  std::vector<std::pair<std::string, nlohmann::json>> added;
  for (const auto& flag : flags.help()) {
    const auto& given = flags.given(flag.long_name);
    if (!given.empty() && given.front().origin == "`" + flag.long_name + "`" &&
        may_stand_in_file(flag.long_name) && flag.section != "General") {
      added.emplace_back(flag.long_name.substr(2), to_json(flag, given.front().values));
    }
  }
  const auto before = read_file_if_exists(settings_file_name).value_or("");
  const auto after = job::save_settings(before, settings_file_name, added);
  if (after != before) {
    write_file(settings_file_name, after);
  }
  const auto there = job::read_settings_file(before, settings_file_name);
  std::vector<std::string> keys;
  for (const auto& [key, value] : added) {
    const bool is_old = std::any_of(there.begin(), there.end(), [&name = key](const auto& setting) {
      return setting.key == name;
    });
    if (!is_old) {
      keys.push_back(key);
    }
  }
  return keys;
}

}  // namespace autopack::cli
