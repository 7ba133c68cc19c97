#pragma once

#include "index/candidate.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace autopack::index {

/// Returns the file that a URL of a page refers to, with the hash of its fragment; nothing if it is
/// neither http nor https nor file. `reference` may be relative to `base`.
std::optional<Candidate> candidate_at(std::string_view base, std::string_view reference);

/// True for a name that stays inside its directory and on one line.
bool is_file_name(std::string_view name);

/// Adds the hash if NamedHash knows `algorithm`.
void add_hash(std::vector<python::Hash>& hashes,
              std::string_view algorithm,
              std::string_view digits);

}  // namespace autopack::index
