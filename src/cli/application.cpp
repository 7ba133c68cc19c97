#include "cli/application.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "cli/command.hpp"
#include "cli/error_text.hpp"
#include "cli/help.hpp"
#include "cli/reading.hpp"
#include "cli/services.hpp"
#include "cli/settings.hpp"
#include "cli/signals.hpp"
#include "version.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::cli {

namespace {

/// With `-v`, reports the source of each value that is not a default. Lists may contain private
/// values: reports only their source.
void report_origins(const FlagSet& flags, Console& console) {
  for (const auto& flag : flags.help()) {
    const auto& given = flags.given(flag.long_name);
    if (given.empty()) {
      continue;
    }
    const bool is_list = flag.kind == FlagKind::list || flag.long_name == "--config";
    const auto value = redact_credentials(given.front().values.back().text());
    console.detail(fmt::format("{}{} from {}", flag.long_name,
                               is_list ? "" : fmt::format(" is `{}`", printable(value)),
                               to_string(given.front().origin)));
  }
}

int run_command(const Reading& reading, const Surroundings& surroundings, Console& console) {
  const auto services = make_services(surroundings, reading.global, console);
  services->agrees = [&console](const std::string& question) {
    const auto answer = to_lower(trim(console.ask(question).value_or("")));
    return answer == "y" || answer == "yes";
  };
  for (const auto& warning : reading.warnings) {
    console.warn(warning);
  }
  report_origins(*reading.flags, console);
  Session session{.global = reading.global,
                  .flags = *reading.flags,
                  .format = OutputFormat::parse(reading.global.format),
                  .console = console,
                  .services = *services,
                  .program_arguments = reading.program_arguments,
                  .arguments = reading.arguments};
  return reading.command->run(session);
}

/// Prints help or version, which need only the flags; returns true if that was all.
bool report_about(const Reading& reading, Console& console) {
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
    console.result_for_people(command_help_text(*reading.entry, *reading.flags, all));
  } else if (asked) {
    console.result_for_people(overview_text());
  }
  return asked;
}

int run_read(const Reading& reading, const Surroundings& surroundings, Console& console) {
  if (report_about(reading, console)) {
    return 0;
  }
  if (reading.entry == nullptr) {
    throw Error(ErrorKind::usage, "no command is given").hint("`autopack --help` lists them");
  }
  return run_command(reading, surroundings, console);
}

/// Prints `error` as JSON on standard output with `--format=json`.
void print_on_output(const Error& error, const Reading& reading, Console& console) {
  if (reading.global.format == "json") {
    try {
      console.result(error_json(error));
    } catch (const Error&) {
      // Standard error has it.
    }
  }
}

int fail(const Interrupted& end, const Reading& reading, Console& console) {
  console.error(end);
  print_on_output(end.report(), reading, console);
  return interruption_status();
}

int fail(const Error& error, const Reading& reading, Console& console) {
  console.error(error);
  print_on_output(error, reading, console);
  const auto own = reading.entry != nullptr ? reading.entry->own_failure : std::nullopt;
  return own.value_or(exit_status(error.kind()));
}

}  // namespace

bool asks_servers(const std::vector<std::string>& typed) {
  const auto is_flag = [](const std::string& word) { return word.starts_with('-'); };
  const auto command = std::ranges::find_if_not(typed, is_flag);
  const auto& all = commands();
  return command != typed.end() && std::ranges::any_of(all, [&](const auto& entry) {
           return entry.name == *command && entry.asks_servers;
         });
}

int run_application(const std::vector<std::string>& typed, const Surroundings& surroundings) {
  Reading reading;
  std::optional<Error> unreadable;
  try {
    read_command_line(reading, typed, surroundings.environment);
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
  } catch (const Interrupted& end) {
    return fail(end, reading, console);
  } catch (const Error& error) {
    return fail(error, reading, console);
  } catch (const std::exception& error) {
    return fail(as_error(error), reading, console);
  }
}

}  // namespace autopack::cli
