#pragma once

#include "index/candidate.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace autopack::index {

/// The file that a URL of a page leads to, with the hash of its fragment; none when it is neither
/// http nor https nor file. `base` is what it is relative to.
std::optional<Candidate> candidate_at(std::string_view base, std::string_view reference);

/// A name that stays below the directory it is put into, and on its line.
bool is_file_name(std::string_view name);

/// Adds what `algorithm` and `digits` tell; nothing when NamedHash does not know it.
void add_hash(std::vector<python::Hash>& hashes,
              std::string_view algorithm,
              std::string_view digits);

}  // namespace autopack::index
