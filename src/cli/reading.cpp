#include "cli/reading.hpp"

#include "base/contains.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/all_flags.hpp"
#include "cli/flags.hpp"
#include "cli/named_files.hpp"
#include "cli/settings.hpp"
#include "job/flags_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::cli {

namespace {

constexpr std::string_view flags_file_flag = "--flags-file";

void expand_into(std::vector<std::string>& result,
                 const std::vector<std::string>& tokens,
                 const std::function<std::vector<std::string>(const std::string&)>& expand,
                 const std::vector<std::string>& inside) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    std::string file;
    if (token == flags_file_flag && i + 1 < tokens.size()) {
      file = tokens[++i];
    } else if (token.starts_with(std::string{flags_file_flag} + "=")) {
      file = token.substr(flags_file_flag.size() + 1);
    } else {
      result.push_back(token);
      continue;
    }
    if (contains(inside, file)) {
      throw Error(ErrorKind::usage,
                  fmt::format("the flags file `{}` names itself", printable(file)));
    }
    auto deeper = inside;
    deeper.push_back(file);
    expand_into(result, split_arguments(expand(file)).tokens, expand, deeper);
  }
}

}  // namespace

Arguments split_arguments(const std::vector<std::string>& typed) {
  Arguments arguments;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const std::string& token = typed[i];
    if (token == "--") {
      arguments.has_separator = true;
      arguments.program.assign(typed.begin() + static_cast<std::ptrdiff_t>(i) + 1, typed.end());
      break;
    }
    const bool empty_value =
        token.size() > 3 && token.starts_with("--") && token.find('=') == token.size() - 1;
    if (empty_value) {
      arguments.tokens.push_back(token.substr(0, token.size() - 1));
      arguments.tokens.emplace_back();
    } else {
      arguments.tokens.push_back(token);
    }
  }
  return arguments;
}

std::vector<std::string> expand_flags_files(
    const std::vector<std::string>& tokens,
    const std::function<std::vector<std::string>(const std::string& file)>& expand) {
  std::vector<std::string> result;
  expand_into(result, tokens, expand, {});
  return result;
}

namespace {

constexpr std::string_view prefix{"AUTOPACK_"};
/// Variables that belong to no flag.
constexpr std::array other_variables{std::string_view{"AUTOPACK_UV"}};

std::vector<std::string> variables_of_all(const std::vector<FlagHelp>& flags) {
  std::vector<std::string> names;
  std::ranges::transform(flags, std::back_inserter(names),
                         [](const FlagHelp& flag) { return variable_of(flag.long_name); });
  return names;
}

/// Returns a warning for each variable `AUTOPACK_...` that sets no flag and is spelled almost like
/// one that does. `flags` are those of the current command.
Problems unknown_variables(const FlagSet& flags, const Environment& environment) {
  const auto own = variables_of_all(flags.help());
  std::vector<std::string> others;
  Problems problems;
  for (const auto& [name, value] : environment.all()) {
    if (!name.starts_with(prefix) || contains(own, name) || contains(other_variables, name)) {
      continue;
    }
    if (others.empty()) {
      others = variables_of_all(flags_of_all_commands());
    }
    if (contains(others, name)) {
      continue;
    }
    if (const auto near = nearest(name, others)) {
      problems.push_back(
          Problem::warning({.message = fmt::format("no flag takes its value from the variable `{}`",
                                                   printable(name)),
                            .hints = {fmt::format("did you mean `{}`?", *near)}}));
    }
  }
  return problems;
}

/// Returns true if the directory does not matter.
bool only_prints(const GlobalOptions& global) {
  return global.help || global.help_all || global.version || global.manual || global.schema;
}

/// Returns what to do instead of a command that other tools have.
std::optional<std::string_view> instead_of_command(std::string_view name) {
  using Row = std::pair<std::string_view, std::string_view>;
  constexpr std::string_view jobs{"`autopack jobs list` lists jobs"};
  constexpr std::string_view login{
      "no login is needed: autopack uses those of gcloud and docker, and `autopack doctor` checks "
      "them"};
  constexpr std::string_view settings{
      "settings are in `autopack.yaml`: `autopack init` writes it, and `autopack explain -v` "
      "prints "
      "where each value is from"};
  static constexpr std::array rows{
      Row{"push", "`autopack build` pushes the image"},
      Row{"ps", jobs},
      Row{"list", jobs},
      Row{"ls", jobs},
      Row{"logs", "`autopack jobs logs -f --latest` follows the newest job"},
      Row{"cancel", "`autopack jobs cancel NAME` cancels a job"},
      Row{"login", login},
      Row{"auth", login},
      Row{"config", settings},
      Row{"exec", "`autopack run --shell` starts a shell in the image"},
      Row{"shell", "`autopack run --shell` starts a shell in the image"},
      Row{"prune", "`autopack clean` removes images and caches"}};
  const auto found = std::ranges::find(rows, name, &Row::first);
  return found == rows.end() ? std::nullopt : std::optional{found->second};
}

const CommandEntry& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : commands()) {
    if (entry.name == name) {
      return entry;
    }
    names.emplace_back(entry.name);
  }
  if (name.starts_with('-')) {
    std::vector<std::string> flags;
    for (const auto& flag : flags_of_program()) {
      flags.push_back(flag.long_name);
    }
    Error error{ErrorKind::usage,
                fmt::format("`{}` is not a flag that may precede a command", printable(name))};
    if (const auto near = nearest(name, flags)) {
      error.hint(fmt::format("did you mean `{}`?", *near));
    }
    throw error.hint("`autopack COMMAND FLAGS...`; `autopack --help` lists the commands");
  }
  Error error{ErrorKind::usage, fmt::format("there is no command `{}`", printable(name))};
  if (const auto instead = instead_of_command(name)) {
    error.hint(std::string{*instead});
  } else if (const auto near = nearest(name, names)) {
    error.hint(fmt::format("did you mean `{}`?", *near));
  }
  throw error.hint(fmt::format("the commands are `{}`", join(names, "`, `")));
}

/// Returns the switch before `word`, which was typed as if it were its value; nothing if there is
/// none.
std::optional<std::string> switch_before(const std::string& word,
                                         const Reading& reading,
                                         const Arguments& arguments) {
  const auto& tokens = arguments.tokens;
  const auto at = std::ranges::find(tokens, word);
  if (at == tokens.begin() || at == tokens.end() || !reading.flags->is_switch(*std::prev(at))) {
    return std::nullopt;
  }
  return *std::prev(at);
}

void check_positional(const Reading& reading,
                      const std::vector<std::string>& positional,
                      const Arguments& arguments) {
  const auto& first = reading.entry->first_argument;
  const auto words = first ? split(*first, '|') : std::vector<std::string>{};
  const bool is_word = words.empty() || positional.empty() || contains(words, positional.front());
  if (!is_word) {
    Error error{ErrorKind::usage, fmt::format("`autopack {}` has no `{}`", reading.entry->name,
                                              printable(positional.front()))};
    if (const auto near = nearest(positional.front(), words)) {
      error.hint(fmt::format("did you mean `{}`?", *near));
    }
    throw error.hint(fmt::format("it has `{}`", join(words, "`, `")));
  }
  if (positional.size() > reading.entry->most_arguments) {
    Error error{ErrorKind::usage,
                fmt::format("unexpected argument `{}`",
                            printable(positional[reading.entry->most_arguments]))};
    const auto& word = positional[reading.entry->most_arguments];
    const auto directory = reading.flags->takes_value("--local-package-path");
    std::error_code ignored;
    const auto& tokens = arguments.tokens;
    const auto at = std::ranges::find(tokens, word);
    const bool is_after_v = at != tokens.begin() && at != tokens.end() && *std::prev(at) == "-v";
    if (is_after_v && word.find(':') != std::string::npos &&
        reading.flags->takes_value("--volume")) {
      throw error.hint(fmt::format("did you mean `--volume={}`? `-v` is `--verbose`",
                                   printable(shell_quote(word))));
    }
    if (directory && word == ".") {
      throw error.hint(
          "this directory is meant anyway; `--local-package-path=DIR` names another one");
    }
    if (reading.flags->takes_value("--from")) {
      error.hint(fmt::format("`--from={}` names a file", printable(shell_quote(word))));
    }
    if (directory && std::filesystem::is_directory(word, ignored)) {
      error.hint(fmt::format("`--local-package-path={}` names the project directory",
                             printable(shell_quote(word))));
    }
    if (const auto before = switch_before(word, reading, arguments)) {
      error.hint(
          reading.flags->takes_joined_word(*before)
              ? fmt::format("`{}={}` gives it a value", *before, printable(shell_quote(word)))
              : fmt::format("`{}` takes no value", *before));
    }
    const bool is_program = word.ends_with(".py") || word.ends_with(".sh");
    if (is_program && reading.flags->takes_value("--script")) {
      error.hint(fmt::format("`--script={}` names the program", printable(shell_quote(word))));
    }
    if (reading.entry->takes_program_arguments) {
      error.hint("arguments of the program follow `--`");
    }
    if (error.hints().empty()) {
      error.hint(fmt::format("`autopack {} --help` shows what it takes", reading.entry->name));
    }
    throw error;
  }
  if (arguments.has_separator && !reading.entry->takes_program_arguments) {
    throw Error(ErrorKind::usage,
                fmt::format("`autopack {}` takes no arguments after `--`", reading.entry->name))
        .hint("`autopack run` and `autopack submit` start the program with arguments");
  }
}

/// Adds the command and its flags, unparsed.
void add_flags(Reading& reading) {
  reading.command = reading.entry->make();
  reading.flags = std::make_unique<FlagSet>(std::string{reading.entry->name});
  reading.command->add_flags(*reading.flags);
  add_global_flags(*reading.flags, reading.global);
}

/// Changes to the directory of `-C`.
void enter(const std::string& directory) {
  std::error_code failure;
  std::filesystem::current_path(directory, failure);
  if (failure) {
    throw Error(ErrorKind::usage,
                fmt::format("`-C` names `{}`, which is not a directory", printable(directory)))
        .cause(failure.message());
  }
}

/// Removes an `autopack.yaml` that `--config` names from `tokens`; returns nothing if it names
/// another file.
std::optional<std::string> take_settings_file(std::vector<std::string>& tokens,
                                              const FlagSet& flags) {
  const auto& given = flags.given("--config");
  if (given.empty() ||
      std::filesystem::path{given.front().values.back().text()}.filename() != settings_file_name) {
    return std::nullopt;
  }
  std::string file = given.front().values.back().text();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == "--config=" + file) {
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i));
      return file;
    }
    if (tokens[i] == "--config" && i + 1 < tokens.size() && tokens[i + 1] == file) {
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i),
                   tokens.begin() + static_cast<std::ptrdiff_t>(i) + 2);
      return file;
    }
  }
  return std::nullopt;
}

/// Typed files are read from the disk, including a file of flags; warns if the source has another
/// version.
void warn_of_flags_files(Reading& reading,
                         const std::vector<NamedFile>& files,
                         const Environment& environment) {
  const auto& source = reading.flags->given("--source");
  if (source.empty() || only_prints(reading.global)) {
    return;
  }
  for (const auto& file : files) {
    warn_if_other(file, source.front().values.back().text(), environment, reading.warnings);
  }
}

}  // namespace

void read_command_line(Reading& reading,
                       const std::vector<std::string>& typed,
                       const Environment& environment) {
  const Arguments arguments = split_arguments(typed);
  FlagSet global_flags{""};
  add_global_flags(global_flags, reading.global);
  const auto at = global_flags.leading_flags(arguments.tokens);
  const auto first = arguments.tokens.begin();
  global_flags.parse({first, first + static_cast<std::ptrdiff_t>(at)}, environment);
  auto tokens = arguments.tokens;
  if (at < tokens.size() && tokens[at] == "version") {
    reading.global.version = true;
    return;
  }
  if (at < tokens.size() && tokens[at] == "help") {
    reading.global.help = true;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (at == tokens.size()) {
    // An empty command line prints the overview.
    reading.global.help = reading.global.help || typed.empty();
    return;
  }
  reading.entry = &find_command(tokens[at]);
  tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at));
  add_flags(reading);
  if (const auto file = environment.get(variable_of("--flags-file"))) {
    tokens.insert(tokens.begin(), "--flags-file=" + *file);  // first, so that typed flags win
  }
  std::vector<NamedFile> flags_files;
  tokens = expand_flags_files(tokens, [&](const std::string& file) {
    flags_files.push_back({file, read_named_file("--flags-file", file)});
    return job::parse_flags_file(flags_files.back().text, file);
  });
  reading.arguments = reading.flags->parse(tokens, environment);
  if (reading.global.directory) {
    enter(*reading.global.directory);
  }
  if (!only_prints(reading.global)) {
    const auto named = take_settings_file(tokens, *reading.flags);
    const auto& source = reading.flags->given("--source");
    auto settings = find_settings(
        environment,
        {.named = named,
         .packages = reading.flags->takes_value("--source"),
         .source = source.empty() ? std::nullopt : non_empty(source.front().values.back().text()),
         .has_program =
             std::ranges::any_of(program_settings,
                                 [&](std::string_view name) {
                                   return !reading.flags->given(fmt::format("--{}", name)).empty();
                                 }),
         .target = reading.global.to});
    if (reading.entry->name != "trust") {
      refuse_untrusted(std::move(settings.reaching), *reading.flags, environment);
    }
    reading.warnings = std::move(settings.warnings);
    for (auto& problem : unknown_variables(*reading.flags, environment)) {
      reading.warnings.push_back(std::move(problem));
    }
    if (!settings.values.empty() || named) {
      add_flags(reading);
      reading.arguments = reading.flags->parse(tokens, environment, settings.values);
    }
  }
  warn_of_flags_files(reading, flags_files, environment);
  check_positional(reading, reading.arguments, arguments);
  reading.program_arguments = arguments.program;
}

}  // namespace autopack::cli
