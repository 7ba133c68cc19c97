#include "cli/global_options.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace autopack::cli {

namespace {

int verbosity_of(const GlobalOptions& options) {
  if (options.quiet) {
    return -1;
  }
  if (options.verbose > 0) {
    return std::min(options.verbose, 2);
  }
  static const std::map<std::string, int> levels{
      {"debug", 2}, {"info", 1}, {"error", -1}, {"critical", -1}, {"none", -1}};
  const auto level = options.verbosity ? levels.find(*options.verbosity) : levels.end();
  return level == levels.end() ? 0 : level->second;
}

/// Returns whether the locale's characters are UTF-8, by the variables that setlocale(3) reads.
bool is_utf8_locale(const Environment& environment) {
  for (const auto* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const auto locale = environment.get(name)) {
      const std::string lower = to_lower(*locale);
      return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
    }
  }
  return false;
}

}  // namespace

void add_global_flags(FlagSet& flags, GlobalOptions& options) {
  flags.section("Google Cloud", false);
  flags.text("--project", "ID", options.project, "project; default: gcloud's");
  flags.text("--region", "REGION", options.region,
             "region; default: gcloud's `ai/region`; submit: also a list, in order");
  flags.text("--configuration", "NAME", options.configuration, "gcloud configuration to read");
  flags.text("--access-token-file", "FILE", options.access_token_file, "file with an access token");
  flags.text("--billing-project", "ID", options.billing_project, "project charged for quota");
  flags.text("--account", "EMAIL", options.account, "account that gcloud has logged in");
  flags.text("--impersonate-service-account", "EMAIL", options.impersonate,
             "act as this service account; delegates before it, with commas");
  flags.section("General", false);
  flags.text("-C,--directory", "DIR", options.directory, "work as if started in DIR");
  flags.text(
      "--engine-host", "URL", options.engine_host,
      "docker's engine, such as ssh://user@host; default: DOCKER_HOST, else the running one");
  flags.text("--format", "FORMAT", options.format, "`json` or `value(KEY)`");
  flags.text("--to", "TARGET", options.to, "use this target's settings in `autopack.yaml`");
  flags.text("--flags-file", "FILE", options.flags_file, "YAML or JSON file of flags");
  flags.toggle("-q,--quiet", options.quiet, "only errors");
  flags.count("-v,--verbose", options.verbose, "requests and logs; -vv: also the responses");
  flags.text("--verbosity", "debug|info|warning|error|critical|none", options.verbosity,
             "gcloud's levels");
  flags.text("--color", "auto|always|never", options.color, "colours in messages");
  flags.text("--progress", "auto|tty|plain|none", options.progress, "how running steps are shown");
  flags.toggle("-h,--help", options.help, "the most common flags");
  flags.toggle("--help-all", options.help_all, "every flag");
  flags.toggle("-V,--version", options.version, "the version");
  flags.toggle("--man", options.manual, "the manual page, as roff");
  flags.toggle("--schema", options.schema, "the JSON schema of `autopack.yaml`");
}

ConsoleOptions console_options(const GlobalOptions& options,
                               const Environment& environment,
                               const Streams& streams) {
  const bool dumb = environment.get("TERM").value_or("") == "dumb";
  const bool terminal = streams.errors_are_terminal && !dumb;
  ConsoleOptions result{.charset = is_utf8_locale(environment) ? Charset::utf8 : Charset::ascii};
  result.verbosity = verbosity_of(options);
  const auto wants_color = [&](bool on_terminal) {
    return options.color == "always" ||
           (options.color == "auto" && on_terminal && !dumb && !environment.get("NO_COLOR"));
  };
  result.color = wants_color(streams.errors_are_terminal);
  result.color_output = wants_color(streams.output_is_terminal);
  if (options.progress == "none") {
    result.progress = Progress::none;
  } else if (options.progress == "tty" ||
             (options.progress == "auto" && terminal && !environment.get("CI"))) {
    result.progress = Progress::live;
  }
  return result;
}

}  // namespace autopack::cli
