#pragma once

#include "base/environment.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace autopack::cli {

/// What `autopack trust` allowed: fingerprints of settings, by the canonical path of the directory.
using TrustRecords = std::map<std::string, std::set<std::string>>;

/// `XDG_STATE_HOME/autopack/trusted.json`, else below `~/.local/state`.
std::filesystem::path trust_file(const Environment& environment);

/// What is recorded. Empty if there is no record, or one that another user owns or can write.
TrustRecords read_trust(const Environment& environment);

/// Replaces the record, for its owner alone. Throws Error(environment) if it cannot be written.
void write_trust(const TrustRecords& records, const Environment& environment);

/// The working directory as the record names it.
std::string trusted_directory();

}  // namespace autopack::cli
