#pragma once

#include "base/environment.hpp"
#include "cli/flags.hpp"
#include "local/submitter.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// The flags for how a job runs on this machine.
struct LocalFlags {
  std::optional<std::int64_t> most_replicas{};
  std::optional<std::string> memory{};
  std::optional<std::string> processors{};
  std::vector<std::string> buckets{};
  std::vector<std::string> volumes{};
  std::vector<std::string> faults{};
  bool detach{false};
  std::optional<std::string> resumed{};  ///< the study to continue
};

/// `tunes`: the command is `tune`.
void add_local_flags(FlagSet& flags, LocalFlags& into, bool tunes);

/// Throws Error(usage) if one of them was typed for another submitter.
void refuse_local_flags(const FlagSet& typed);

/// Returns the options in the flags, and the resources of this machine: credentials, GPUs, the
/// directory of jobs. Throws Error(usage) with all findings.
local::LocalOptions local_options(const LocalFlags& flags, const Environment& environment);

}  // namespace autopack::cli
