#include "cli/application.hpp"

#include "base/text.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/packaging_options.hpp"
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

std::vector<std::string> flags_of_file(const std::string& file) {
  return job::parse_flags_file(read_named_file("--flags-file", file), file);
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
  reading.command = reading.entry->make();
  reading.flags = std::make_unique<FlagSet>(std::string{reading.entry->name});
  reading.command->add_flags(*reading.flags);
  add_global_flags(*reading.flags, reading.global);
  if (const auto file = environment.get(variable_of("--flags-file"))) {
    tokens.insert(tokens.begin(), "--flags-file=" + *file);  // first, so that what is typed wins
  }
  tokens = expand_flags_files(tokens, flags_of_file);
  reading.arguments = reading.flags->parse(tokens, environment);
  check_positional(reading, reading.arguments, arguments);
  reading.program_arguments = arguments.program;
}

int run_command(const Reading& reading, const Surroundings& surroundings, Console& console) {
  std::unique_ptr<http::Client> client;
  std::shared_ptr<engine::Docker> docker;
  std::unique_ptr<google::TokenSource> google;
  pipeline::Services services{
      .environment = surroundings.environment,
      .reporter = &console,
      .cancellation = surroundings.cancellation,
      .credentials = registry::make_docker_credentials(surroundings.environment)};
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
  if (reading.global.help && reading.entry != nullptr) {
    console.result(command_help_text(*reading.entry, *reading.flags, reading.global.verbose > 0));
    return true;
  }
  if (reading.global.help) {
    console.result(overview_text());
  }
  return reading.global.help;
}

int run_read(const Reading& reading, const Surroundings& surroundings, Console& console) {
  if (tell_about(reading, console)) {
    return 0;
  }
  if (reading.entry == nullptr) {
    throw Error(ErrorKind::usage, "no command is given").hint("`autopack --help` lists them");
  }
  if (!reading.global.directory.empty()) {
    std::error_code failure;
    std::filesystem::current_path(reading.global.directory, failure);
    if (failure) {
      throw Error(ErrorKind::usage, fmt::format("`-C` names `{}`, which is no directory to work in",
                                                printable(reading.global.directory)))
          .cause(failure.message());
    }
  }
  return run_command(reading, surroundings, console);
}

/// Tells `error` on standard error, and as JSON on standard output when that is asked for.
int fail(const Error& error, const Reading& reading, Console& console) {
  console.error(error);
  if (reading.global.format == "json") {
    console.result(error_json(error));
  }
  const int own = reading.entry != nullptr ? reading.entry->own_failure : 0;
  return own != 0 && error.kind() != ErrorKind::interrupted ? own : exit_status(error.kind());
}

}  // namespace

int run_application(const std::vector<std::string>& typed, const Surroundings& surroundings) {
  Reading reading;
  ConsoleOptions options;
  std::optional<Error> unreadable;
  try {
    read(reading, typed, surroundings.environment);
    options = console_options(reading.global, surroundings.environment, surroundings.streams);
  } catch (const Error& error) {
    unreadable = error;
  }
  Console console{surroundings.streams, options};
  try {
    if (unreadable) {
      throw *unreadable;
    }
    return run_read(reading, surroundings, console);
  } catch (const Error& error) {
    return fail(error, reading, console);
  } catch (const std::exception& error) {
    return fail(Error{ErrorKind::internal, error.what()}, reading, console);
  }
}

}  // namespace autopack::cli
