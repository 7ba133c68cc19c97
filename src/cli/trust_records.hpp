#pragma once

#include "base/environment.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace autopack::cli {

/// The permissions of `autopack trust`: fingerprints of settings, by the canonical path of the
/// directory.
using TrustRecords = std::map<std::string, std::set<std::string>>;

/// Returns `XDG_STATE_HOME/autopack/trusted.json`, else below `~/.local/state`.
std::filesystem::path trust_file(const Environment& environment);

/// Returns the record. Empty if there is none, or if another user owns or can write it.
TrustRecords read_trust(const Environment& environment);

/// Replaces the record, accessible to its owner only. Throws Error(environment) if it cannot be
/// written.
void write_trust(const TrustRecords& records, const Environment& environment);

/// Returns the working directory in the record's form.
std::string trusted_directory();

}  // namespace autopack::cli
