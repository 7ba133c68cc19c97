#include "cli/settings.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/all_flags.hpp"
#include "cli/flags.hpp"
#include "cli/trust_records.hpp"
#include "job/pool_flags.hpp"
#include "job/settings_blocks.hpp"
#include "project/tool_settings.hpp"
#include "source/git.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace autopack::cli {

namespace {

using nlohmann::json;

bool is_text(const json& value) {
  return value.is_string() || value.is_number();
}

bool is_word(const json& value) {
  return is_text(value) || value.is_boolean();
}

/// Matches `NAME: VALUE`, or null instead of a value.
bool is_variables(const json& value) {
  return value.is_object() && std::ranges::all_of(value, [](const json& inner) {
           return inner.is_null() || is_word(inner);
         });
}

/// Matches `KEY: VALUE`, where a value may be a list or null.
bool is_pairs(const json& value) {
  const auto fits = [](const json& inner) {
    return inner.is_null() || is_word(inner) ||
           (inner.is_array() && std::ranges::all_of(inner, is_word));
  };
  const auto fits_key = [&](const auto& pair) {
    return fits(pair.value()) || (pair.key() == "build-env" && is_variables(pair.value()));
  };
  const auto pairs = value.items();
  return value.is_object() && std::ranges::all_of(pairs, fits_key);
}

bool is_element(const json& value) {
  return is_word(value) || is_pairs(value);
}

bool is_list(const json& value) {
  return value.is_array() && std::ranges::all_of(value, is_element);
}

/// Returns `words`, the expectation of a flag; nothing if its value `fits`.
std::optional<std::string_view> unless(bool fits, std::string_view words) {
  return fits ? std::nullopt : std::optional{words};
}

/// Returns what `flag` expects, in words; nothing if `value` is valid.
std::optional<std::string_view> wanted(const json& value, const FlagHelp& flag) {
  if (flag.long_name == "--config") {
    return unless(is_text(value) || value.is_object(), "a file's name or a job");
  }
  switch (flag.kind) {
    case FlagKind::toggle:
    case FlagKind::choice: return unless(value.is_string() || value.is_boolean(), "true or false");
    case FlagKind::count:
    case FlagKind::number: return unless(is_word(value), "a number");
    case FlagKind::list:
      return unless(is_text(value) || is_pairs(value) || is_list(value),
                    "text, a list, or pairs of a name and text");
    case FlagKind::text: break;
  }
  if (value.is_array() && may_be_list(flag.long_name)) {
    return unless(!value.empty() && std::ranges::all_of(value, is_text),
                  "text, or a list of texts");
  }
  const bool has_words = contains(flag.values, "true");
  return unless(is_text(value) || (has_words && value.is_boolean()), "one text");
}

/// Returns why the value of `setting` cannot be a value of `flag`, by its JSON type alone; nothing
/// if it can. Must agree with the schema.
std::optional<Problem> shape_fault(const project::ToolSetting& setting, const FlagHelp& flag) {
  const json& value = *setting.value;
  const std::string key = printable(setting.key);
  const std::string origin = fmt::format("{}:{}", printable(setting.file), setting.line);
  if (value.is_null()) {
    return Problem{.message = fmt::format("`{}` has no value", key), .origin = origin};
  }
  const auto fitting = wanted(value, flag);
  if (!fitting) {
    return std::nullopt;
  }
  Problem problem{.message = fmt::format("`{}` is {}, not {}", key, *fitting, print_json(value)),
                  .origin = origin};
  if (value.is_boolean()) {
    problem.hints.push_back(fmt::format("to write a text: {}: \"{}\"", key, value.dump()));
  }
  return problem;
}

using project::ToolSetting;

constexpr std::string_view source_key{"source"};

job::Origin origin_of(const ToolSetting& setting) {
  return job::Origin::file(printable(setting.file), setting.line);
}

/// Reports keys that no flag of any command has, and invalid values.
void check(const std::vector<ToolSetting>& settings, Problems& problems) {
  if (settings.empty()) {
    return;
  }
  auto flags = flags_of_all_commands();
  std::erase_if(flags, [](const auto& flag) { return !may_stand_in_file(flag.long_name); });
  for (const auto& setting : settings) {
    const auto first = std::ranges::find_if(settings, [&](const auto& other) {
      return other.key == setting.key && other.target == setting.target;
    });
    if (&*first != &setting) {
      problems.push_back({.message = fmt::format("`{}` is given twice, first on line {}",
                                                 printable(setting.key), first->line),
                          .origin = fmt::format("{}:{}", printable(setting.file), setting.line)});
      continue;
    }
    const auto found = std::ranges::find_if(
        flags, [&](const auto& flag) { return flag.long_name == "--" + setting.key; });
    if (found != flags.end()) {
      if (auto fault = shape_fault(setting, *found)) {
        problems.push_back(std::move(*fault));
      }
      continue;
    }
    Problem problem{.message = fmt::format("there is no setting `{}`", printable(setting.key)),
                    .origin = fmt::format("{}:{}", printable(setting.file), setting.line)};
    std::vector<std::string> names;
    std::ranges::transform(flags, std::back_inserter(names),
                           [](const auto& flag) { return flag.long_name.substr(2); });
    if (const auto near = nearest(replace_all(setting.key, "_", "-"), names)) {
      problem.hints.push_back(fmt::format("did you mean `{}`?", *near));
    } else if (is_word(*setting.value)) {
      problem.hints.push_back(fmt::format("for an argument of the program: args: [--{}=VALUE]",
                                          printable(setting.key)));
    }
    problems.push_back(std::move(problem));
  }
}

/// Returns true if a variable of gcloud, which overrides files, sets the same thing.
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
         bool has_program,
         Problems& problems) {
  const std::size_t before = problems.size();
  check(settings, problems);
  if (problems.size() > before) {
    return;
  }
  std::erase_if(settings, [&](const auto& one) {
    return is_overruled(one.key, environment) ||
           (has_program && contains(program_settings, one.key));
  });
  for (const auto& setting : job::spread_packaging(std::move(settings))) {
    all.push_back({.flag = "--" + setting.key,
                   .values = job::flag_values(setting),
                   .origin = origin_of(setting)});
  }
}

/// A settings file: its name for messages, and its text if it exists.
struct SettingsText {
  std::string name{};
  std::optional<std::string> text{};
};

/// Returns `file` from `source`, with git's name: `HEAD:autopack.yaml`.
SettingsText read_text(const std::string& file,
                       const std::string& source,
                       const Environment& environment,
                       FileSort sort = FileSort::regular) {
  if (source == source::worktree_source) {
    return {file, read_file_if_exists(file, sort)};
  }
  return {fmt::format("{}:{}", source, file), source::read_git_file(file, source, environment)};
}

std::vector<ToolSetting> settings_of_project(const std::optional<std::filesystem::path>& named,
                                             const std::string& source,
                                             const Environment& environment) {
  const auto own = named ? read_text(named->string(), source, environment, FileSort::any)
                         : read_text(settings_file_name, source, environment);
  if (named && !own.text) {
    throw Error(ErrorKind::usage,
                fmt::format("`--config` names `{}`, which does not exist", printable(own.name)));
  }
  const auto toml = named ? SettingsText{} : read_text("pyproject.toml", source, environment);
  auto of_toml = toml.text ? job::expand_blocks(project::read_tool_settings(*toml.text, toml.name))
                           : std::vector<ToolSetting>{};
  if (own.text && !of_toml.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("settings are in `{}` and in `{}` line {}", printable(own.name),
                            printable(toml.name), of_toml.front().line))
        .hint("keep one of the two");
  }
  return own.text ? job::read_settings_file(*own.text, own.name) : of_toml;
}

/// Returns the source in `settings`.
std::optional<std::string> source_of(const std::vector<ToolSetting>& settings) {
  const auto found =
      std::ranges::find_if(settings, [](const auto& setting) { return setting.key == source_key; });
  return found == settings.end() ? std::nullopt : non_empty(job::flag_values(*found).back().text());
}

/// Git has the file only inside a repository: settings outside of one come from the disk.
std::vector<ToolSetting> settings_in_git(const SettingsPlace& place,
                                         const std::string& source,
                                         const Environment& environment,
                                         Problems& warnings) {
  const auto parent = place.named ? place.named->parent_path() : std::filesystem::path{};
  if (!source::is_in_git(parent.empty() ? "." : parent, environment)) {
    return settings_of_project(place.named, std::string{source::worktree_source}, environment);
  }
  auto settings = settings_of_project(place.named, source, environment);
  if (settings.empty() && read_file_if_exists(settings_file_name) &&
      !source::read_git_file(settings_file_name, source, environment)) {
    warnings.push_back({.message = fmt::format("`{}` is not in `--source={}`, so it has no effect",
                                               settings_file_name, printable(source)),
                        .hints = {fmt::format("git add {}", settings_file_name)}});
  }
  return settings;
}

/// Returns the project's settings from the source of the image's files. Only the file on the disk
/// can set the source; other files' values are ignored.
std::vector<ToolSetting> settings_of_source(const SettingsPlace& place,
                                            const std::vector<ToolSetting>& of_user,
                                            const Environment& environment,
                                            Problems& warnings) {
  if (!place.packages) {
    return settings_of_project(place.named, std::string{source::worktree_source}, environment);
  }
  if (place.source) {
    return settings_in_git(place, *place.source, environment, warnings);
  }
  auto on_disk =
      settings_of_project(place.named, std::string{source::worktree_source}, environment);
  const auto own = source_of(on_disk);
  const auto source = own ? own : source_of(of_user);
  if (!source || *source == source::worktree_source) {
    return on_disk;
  }
  auto settings = settings_in_git(place, *source, environment, warnings);
  const auto names_source = [](const auto& setting) { return setting.key == source_key; };
  std::erase_if(settings, names_source);
  std::ranges::copy_if(on_disk, std::back_inserter(settings), names_source);
  return settings;
}

/// Returns the names of the targets in `settings`, without duplicates.
std::vector<std::string> targets_in(const std::vector<ToolSetting>& settings) {
  std::vector<std::string> names;
  for (const auto& setting : settings) {
    if (!setting.target.empty() && !contains(names, setting.target)) {
      names.push_back(setting.target);
    }
  }
  return names;
}

/// Throws Error(usage) if neither file has the target.
void check_target(const std::string& target,
                  const std::vector<ToolSetting>& of_project,
                  const std::vector<ToolSetting>& of_user) {
  auto names = targets_in(of_project);
  for (auto& name : targets_in(of_user)) {
    names.push_back(std::move(name));
  }
  if (contains(names, target)) {
    return;
  }
  Error error(ErrorKind::usage, fmt::format("there is no target `{}`", printable(target)));
  if (const auto near = nearest(target, names)) {
    error.hint(fmt::format("did you mean `{}`?", *near));
  } else if (!names.empty()) {
    error.hint(fmt::format("the targets are `{}`", printable(join(names, "`, `"))));
  } else {
    error.hint(fmt::format("`{}` lists them: targets: {{{}: {{submitter: ...}}}}",
                           settings_file_name, printable(target)));
  }
  throw error;
}

/// Removes the settings of other targets. Those of `target` override the same keys of `settings`
/// and of `others`.
void choose_target(const std::string& target,
                   std::vector<ToolSetting>& settings,
                   std::vector<ToolSetting>& others) {
  const auto of_target = [&](const auto& one) { return !target.empty() && one.target == target; };
  std::erase_if(settings, [&](const auto& one) { return !one.target.empty() && !of_target(one); });
  std::vector<std::string> keys;
  for (const auto& setting : settings) {
    if (of_target(setting)) {
      keys.push_back(setting.key);
    }
  }
  for (auto* const all : {&settings, &others}) {
    std::erase_if(*all,
                  [&](const auto& one) { return one.target.empty() && contains(keys, one.key); });
  }
}

/// Returns a typed flag's values as they are in a file.
nlohmann::json to_json(const FlagHelp& flag, const job::FlagValues& values) {
  Problems problems;
  switch (flag.kind) {
    case FlagKind::toggle:
    case FlagKind::choice: {
      const auto value = values.back().text();
      const bool is_word = contains(flag.values, value);
      return is_word ? nlohmann::json(value) : nlohmann::json(to_lower(value) != "false");
    }
    case FlagKind::list: break;
    default: return values.back().text();
  }
  auto list = nlohmann::json::array();
  for (const auto& value : values) {
    if (flag.long_name != "--worker-pool-spec") {
      for (const auto& element : value.elements(flag.long_name, problems)) {
        list.push_back(element);
      }
      continue;
    }
    auto pool = nlohmann::json::object();
    for (const auto& [key, inner] : value.keys(flag.long_name, problems)) {
      pool[key] = job::to_text(inner);
    }
    list.push_back(std::move(pool));
  }
  throw_if_errors(problems, ErrorKind::usage);
  return list;
}

/// Returns the settings of the project's file that apply without `--to`.
std::vector<ToolSetting> own_settings(const std::string& text) {
  auto settings = job::read_settings_file(text, settings_file_name);
  std::erase_if(settings, [](const auto& setting) { return !setting.target.empty(); });
  return settings;
}

/// Refuses top-level keys of a pool in a file whose pools set them themselves: they would have no
/// effect.
void refuse_hidden_keys(const std::vector<std::pair<std::string, nlohmann::json>>& added,
                        const std::vector<ToolSetting>& there) {
  const auto pools = std::ranges::find_if(
      there, [](const auto& setting) { return setting.key == "worker-pool-spec"; });
  if (pools == there.end()) {
    return;
  }
  const auto keys = job::pool_keys();
  for (const auto& [key, value] : added) {
    const bool is_there =
        std::ranges::any_of(there, [&key = key](const auto& one) { return one.key == key; });
    if (!is_there && contains(keys, key)) {
      throw Error(ErrorKind::usage,
                  fmt::format("`--save` adds no `{}` beside `worker-pool-spec` in line {} of `{}`",
                              key, pools->line, settings_file_name))
          .hint(fmt::format("write `{}` into that pool by hand", key));
    }
  }
}

void trust_saved(const std::string& text,
                 const std::vector<std::pair<std::string, nlohmann::json>>& added,
                 const Environment& environment) {
  auto settings = own_settings(text);
  std::erase_if(settings, [&](const auto& setting) {
    return std::ranges::none_of(added, [&](const auto& one) { return one.first == setting.key; });
  });
  const auto reaching = reaching_settings(settings, {}, environment);
  if (reaching.empty()) {
    return;
  }
  auto records = read_trust(environment);
  for (const auto& setting : reaching) {
    records[trusted_directory()].insert(setting.fingerprint);
  }
  write_trust(records, environment);
}

}  // namespace

std::filesystem::path user_settings_file(const Environment& environment) {
  const auto directory = environment.get("XDG_CONFIG_HOME");
  return (directory ? std::filesystem::path{*directory} : environment.home() / ".config") /
         "autopack" / "config.yaml";
}

Settings find_settings(const Environment& environment, const SettingsPlace& place) {
  const auto user = user_settings_file(environment);
  const auto text = read_file_if_exists(user);
  auto of_user = text ? job::read_settings_file(*text, user.string()) : std::vector<ToolSetting>{};
  Settings all;
  Problems problems;
  auto of_project = settings_of_source(place, of_user, environment, all.warnings);
  for (const auto* settings : {&of_project, &of_user}) {
    auto of_targets = *settings;
    std::erase_if(of_targets, [](const auto& one) { return one.target.empty(); });
    check(of_targets, problems);
  }
  auto said_by_project = of_project;
  const auto said_by_user = of_user;
  const auto target = place.target.value_or("");
  if (!target.empty()) {
    check_target(target, of_project, of_user);
  }
  std::vector<ToolSetting> none;
  choose_target(target, of_project, none);
  choose_target(target, of_user, of_project);
  if (!place.all_targets) {
    said_by_project = of_project;
  }
  add(all.values, std::move(of_project), environment, place.has_program, problems);
  add(all.values, std::move(of_user), environment, place.has_program, problems);
  throw_if_errors(problems, ErrorKind::usage);
  std::erase_if(said_by_project,
                [&](const auto& setting) { return is_overruled(setting.key, environment); });
  all.reaching = reaching_settings(said_by_project, said_by_user, environment);
  return all;
}

std::vector<std::string> save_settings(const FlagSet& flags, const Environment& environment) {
  const auto toml = read_file_if_exists("pyproject.toml");
  if (toml && !project::read_tool_settings(*toml, "pyproject.toml").empty()) {
    throw Error(ErrorKind::usage,
                "`--save` writes `autopack.yaml`, but the settings are in `pyproject.toml`")
        .hint("add the flags to `[tool.autopack]` by hand");
  }
  std::vector<std::pair<std::string, nlohmann::json>> added;
  for (const auto& flag : flags.help()) {
    const auto& given = flags.given(flag.long_name);
    if (!given.empty() && given.front().origin.is_flag(flag.long_name) &&
        !is_for_one_call(flag.long_name) && flag.section != "General") {
      added.emplace_back(flag.long_name.substr(2), to_json(flag, given.front().values));
    }
  }
  const auto before = read_file_if_exists(settings_file_name).value_or("");
  refuse_hidden_keys(added, own_settings(before));
  const auto after = job::save_settings(before, settings_file_name, added);
  if (after != before) {
    write_file(settings_file_name, after);
    trust_saved(after, added, environment);
  }
  const auto there = own_settings(before);
  std::vector<std::string> keys;
  for (const auto& [key, value] : added) {
    const bool is_old = std::ranges::any_of(
        there, [&name = key](const auto& setting) { return setting.key == name; });
    if (!is_old) {
      keys.push_back(key);
    }
  }
  return keys;
}

}  // namespace autopack::cli
