#pragma once

#include "cli/console.hpp"
#include "cli/flags.hpp"

#include <optional>
#include <string>

namespace autopack::cli {

/// The flags of every command.
struct GlobalOptions {
  std::optional<std::string> directory{};  ///< `-C`
  bool quiet{false};
  int verbose{0};
  std::optional<std::string> verbosity{};  ///< gcloud's `--verbosity`
  std::string color{"auto"};
  std::string progress{"auto"};
  std::optional<std::string> format{};
  std::optional<std::string> flags_file{};
  std::optional<std::string> to{};  ///< the target whose settings apply
  bool help{false};
  bool help_all{false};
  bool manual{false};
  bool schema{false};
  bool version{false};
  std::optional<std::string> engine_host{};
  // gcloud's flags, which not every command supports.
  std::optional<std::string> project{};
  std::optional<std::string> region{};
  std::optional<std::string> account{};
  std::optional<std::string> configuration{};
  std::optional<std::string> impersonate{};
  std::optional<std::string> access_token_file{};
  std::optional<std::string> billing_project{};
};

void add_global_flags(FlagSet& flags, GlobalOptions& options);

/// Returns how to print, from the flags, NO_COLOR, TERM, CI and the streams.
ConsoleOptions console_options(const GlobalOptions& options,
                               const Environment& environment,
                               const Streams& streams);

}  // namespace autopack::cli
