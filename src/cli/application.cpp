#include "cli/application.hpp"

#include "base/text.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/error_text.hpp"
#include "cli/help.hpp"
#include "cli/named_files.hpp"
#include "cli/settings.hpp"
#include "cli/signals.hpp"
#include "google/registry_login.hpp"
#include "job/flags_file.hpp"
#include "version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace autopack::cli {

namespace {

/// A command line whose flags are read.
struct Reading {
  GlobalOptions global{};
  const CommandEntry* entry{nullptr};
  std::unique_ptr<Command> command{};
  std::unique_ptr<FlagSet> flags{};
  std::vector<std::string> program_arguments{};
  std::vector<std::string> arguments{};
  Problems warnings{};  ///< of the files of settings
};

const CommandEntry& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : commands()) {
    if (entry.name == name) {
      return entry;
    }
    names.emplace_back(entry.name);
  }
  if (name.starts_with('-')) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` is no flag that stands before a command", printable(name)))
        .hint("`autopack COMMAND FLAGS...`; `autopack --help` lists the commands");
  }
  Error error{ErrorKind::usage, fmt::format("there is no command `{}`", printable(name))};
  if (const auto near = nearest(name, names)) {
    error.hint(fmt::format("did you mean `{}`?", *near));
  }
  throw error.hint(fmt::format("the commands are `{}`", join(names, "`, `")));
}

void check_positional(const Reading& reading,
                      const std::vector<std::string>& positional,
                      const Arguments& arguments) {
  const auto words = split(reading.entry->first_argument, '|');
  const bool is_word = words.front().empty() || positional.empty() ||
                       std::find(words.begin(), words.end(), positional.front()) != words.end();
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
    if (reading.entry->takes_program_arguments) {
      error.hint("arguments of the program stand after `--`");
    }
    throw error;
  }
  if (arguments.has_separator && !reading.entry->takes_program_arguments) {
    throw Error(ErrorKind::usage,
                fmt::format("`autopack {}` takes no arguments after `--`", reading.entry->name))
        .hint("`--args=ARG,...` gives a job's program its arguments");
  }
}

/// The command and its flags, none of them read.
void add_flags(Reading& reading) {
  reading.command = reading.entry->make();
  reading.flags = std::make_unique<FlagSet>(std::string{reading.entry->name});
  reading.command->add_flags(*reading.flags);
  add_global_flags(*reading.flags, reading.global);
}

/// Makes `-C` the working directory.
void enter(const std::string& directory) {
  std::error_code failure;
  if (!directory.empty()) {
    std::filesystem::current_path(directory, failure);
  }
  if (failure) {
    throw Error(ErrorKind::usage, fmt::format("`-C` names `{}`, which is no directory to work in",
                                              printable(directory)))
        .cause(failure.message());
  }
}

/// True when nothing of the directory matters.
bool only_tells(const GlobalOptions& global) {
  return global.help || global.help_all || global.version || global.manual || global.schema;
}

/// The `autopack.yaml` that `--config` names, taken out of `tokens`; empty when it names another
/// file.
std::string take_settings_file(std::vector<std::string>& tokens, const FlagSet& flags) {
  const auto& given = flags.given("--config");
  if (given.empty() ||
      std::filesystem::path{given.front().values.back()}.filename() != settings_file_name) {
    return {};
  }
  std::string file = given.front().values.back();
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
  return {};
}

/// Tells with `-v` where each value came from that is none of the defaults. Lists may hold what is
/// not for logs: only their origin is told.
void tell_origins(const FlagSet& flags, Console& console) {
  for (const auto& flag : flags.help()) {
    const auto& given = flags.given(flag.long_name);
    if (given.empty()) {
      continue;
    }
    const bool is_list = flag.kind == FlagKind::list || flag.long_name == "--config";
    console.detail(fmt::format("{}{} from {}", flag.long_name,
                               is_list ? "" : " is `" + given.front().values.back() + "`",
                               given.front().origin));
  }
}

/// What is typed is the disk's, a file of flags too; where the source has another, that is told.
void warn_of_flags_files(Reading& reading,
                         const std::vector<NamedFile>& files,
                         const Environment& environment) {
  const auto& source = reading.flags->given("--source");
  if (source.empty() || only_tells(reading.global)) {
    return;
  }
  for (const auto& file : files) {
    warn_if_other(file, source.front().values.back(), environment, reading.warnings);
  }
}

/// Fills `reading` as far as it comes, so that an error is already told as the flags ask.
void read(Reading& reading, const std::vector<std::string>& typed, const Environment& environment) {
  const Arguments arguments = split_arguments(typed);
  FlagSet global_flags{""};
  add_global_flags(global_flags, reading.global);
  const auto at = global_flags.leading_flags(arguments.tokens);
  const auto first = arguments.tokens.begin();
  global_flags.parse({first, first + static_cast<std::ptrdiff_t>(at)}, environment);
  if (at == arguments.tokens.size()) {
    return;
  }
  reading.entry = &find_command(arguments.tokens[at]);
  auto tokens = arguments.tokens;
  tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at));
  add_flags(reading);
  if (const auto file = environment.get(variable_of("--flags-file"))) {
    tokens.insert(tokens.begin(), "--flags-file=" + *file);  // first, so that what is typed wins
  }
  std::vector<NamedFile> flags_files;
  tokens = expand_flags_files(tokens, [&](const std::string& file) {
    flags_files.push_back({file, read_named_file("--flags-file", file)});
    return job::parse_flags_file(flags_files.back().text, file);
  });
  reading.arguments = reading.flags->parse(tokens, environment);
  enter(reading.global.directory);
  if (!only_tells(reading.global)) {
    const auto named = take_settings_file(tokens, *reading.flags);
    const auto& source = reading.flags->given("--source");
    auto settings =
        find_settings(environment, {.named = named,
                                    .packages = reading.flags->takes_value("--source"),
                                    .source = source.empty() ? "" : source.front().values.back()});
    reading.warnings = std::move(settings.warnings);
    if (!settings.values.empty() || !named.empty()) {
      add_flags(reading);
      reading.arguments = reading.flags->parse(tokens, environment, settings.values);
    }
  }
  warn_of_flags_files(reading, flags_files, environment);
  check_positional(reading, reading.arguments, arguments);
  reading.program_arguments = arguments.program;
}

int run_command(const Reading& reading, const Surroundings& surroundings, Console& console) {
  std::unique_ptr<http::Client> client;
  std::shared_ptr<engine::Docker> docker;
  std::unique_ptr<google::TokenSource> google;
  pipeline::Services services{.environment = surroundings.environment,
                              .reporter = &console,
                              .cancellation = surroundings.cancellation};
  services.credentials = registry::first_of(
      {registry::make_docker_credentials(surroundings.environment),
       registry::make_podman_credentials(surroundings.environment),
       google::make_registry_login([&]() -> google::TokenSource& { return services.google(); })});
  services.client = [&]() -> http::Client& {
    if (!client) {
      client = surroundings.make_client({.user_agent = "autopack/" AUTOPACK_VERSION,
                                         .reporter = &console,
                                         .cancellation = surroundings.cancellation});
    }
    return *client;
  };
  std::unique_ptr<http::Client> uninterrupted;
  services.uninterrupted_client = [&]() -> http::Client& {
    if (!uninterrupted) {
      uninterrupted = surroundings.make_client(
          {.user_agent = "autopack/" AUTOPACK_VERSION, .reporter = &console});
    }
    return *uninterrupted;
  };
  services.new_client = [&](const Cancellation& stop) {
    return surroundings.make_client(
        {.user_agent = "autopack/" AUTOPACK_VERSION, .reporter = &console, .cancellation = &stop});
  };
  services.docker = [&]() -> engine::Docker& {
    if (!docker) {
      docker =
          surroundings.make_docker({.endpoint = engine::find_endpoint(surroundings.environment),
                                    .credentials = services.credentials,
                                    .reporter = &console,
                                    .cancellation = surroundings.cancellation,
                                    .client = &services.client()});
    }
    return *docker;
  };
  services.google = [&]() -> google::TokenSource& {
    if (!google) {
      google = find_google_credentials(reading.global, services);
    }
    return *google;
  };
  services.artifact_registry = [&] { return find_artifact_registry(reading.global, services); };
  for (const auto& warning : reading.warnings) {
    console.warn(warning);
  }
  tell_origins(*reading.flags, console);
  Session session{.global = reading.global,
                  .flags = *reading.flags,
                  .format = OutputFormat::parse(reading.global.format),
                  .console = console,
                  .services = services,
                  .program_arguments = reading.program_arguments,
                  .arguments = reading.arguments};
  return reading.command->run(session);
}

/// Help and version need no more than the flags; true when that was all.
bool tell_about(const Reading& reading, Console& console) {
  if (reading.global.version) {
    console.result("autopack " AUTOPACK_VERSION "\n");
    return true;
  }
  if (reading.global.manual) {
    console.result(manual_page());
    return true;
  }
  if (reading.global.schema) {
    console.result(settings_schema());
    return true;
  }
  const bool all = reading.global.help_all || reading.global.verbose > 0;
  const bool asked = reading.global.help || reading.global.help_all;
  if (asked && reading.entry != nullptr) {
    console.result(command_help_text(*reading.entry, *reading.flags, all));
  } else if (asked) {
    console.result(overview_text());
  }
  return asked;
}

int run_read(const Reading& reading, const Surroundings& surroundings, Console& console) {
  if (tell_about(reading, console)) {
    return 0;
  }
  if (reading.entry == nullptr) {
    throw Error(ErrorKind::usage, "no command is given").hint("`autopack --help` lists them");
  }
  return run_command(reading, surroundings, console);
}

/// Tells `error` on standard error, and as JSON on standard output when that is asked for.
int fail(const Error& error, const Reading& reading, Console& console) {
  console.error(error);
  if (reading.global.format == "json") {
    try {
      console.result(error_json(error));
    } catch (const Error&) {
      // It was told on standard error.
    }
  }
  const int own = reading.entry != nullptr ? reading.entry->own_failure : 0;
  if (error.kind() == ErrorKind::interrupted) {
    return interruption_status();
  }
  return own != 0 ? own : exit_status(error.kind());
}

}  // namespace

bool asks_servers(const std::vector<std::string>& typed) {
  const auto is_flag = [](const std::string& word) { return word.starts_with('-'); };
  const auto command = std::find_if_not(typed.begin(), typed.end(), is_flag);
  const auto& all = commands();
  return command != typed.end() && std::any_of(all.begin(), all.end(), [&](const auto& entry) {
           return entry.name == *command && entry.asks_servers;
         });
}

int run_application(const std::vector<std::string>& typed, const Surroundings& surroundings) {
  Reading reading;
  std::optional<Error> unreadable;
  try {
    read(reading, typed, surroundings.environment);
  } catch (const Error& error) {
    unreadable = error;
  }
  Console console{surroundings.streams,
                  console_options(reading.global, surroundings.environment, surroundings.streams)};
  try {
    if (unreadable) {
      throw *unreadable;
    }
    return run_read(reading, surroundings, console);
  } catch (const Error& error) {
    return fail(error, reading, console);
  } catch (const std::exception& error) {
    return fail(as_error(error), reading, console);
  }
}

}  // namespace autopack::cli
