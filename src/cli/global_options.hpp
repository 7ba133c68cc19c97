#pragma once

#include "cli/console.hpp"
#include "cli/flags.hpp"

#include <string>

namespace autopack::cli {

/// The flags that every command has.
struct GlobalOptions {
  std::string directory{};  ///< `-C`
  bool quiet{false};
  int verbose{0};
  std::string verbosity{};  ///< gcloud's `--verbosity`
  std::string color{"auto"};
  std::string progress{"auto"};
  std::string format{};
  std::string flags_file{};
  bool help{false};
  bool help_all{false};
  bool manual{false};
  bool schema{false};
  bool version{false};
  // gcloud's, which not every command can act on.
  std::string project{};
  std::string region{};
  std::string account{};
  std::string configuration{};
  std::string impersonate{};
  std::string access_token_file{};
  std::string billing_project{};
};

void add_global_flags(FlagSet& flags, GlobalOptions& options);

/// How to print, from the flags, NO_COLOR, TERM, CI and the streams.
ConsoleOptions console_options(const GlobalOptions& options,
                               const Environment& environment,
                               const Streams& streams);

}  // namespace autopack::cli
