#pragma once

#include "index/candidate.hpp"

#include <filesystem>
#include <vector>

namespace autopack::index {

/// What a local place of `find-links` offers: the archives of a directory and the links of its
/// pages, the links of a page, or one archive. Sorted; `index` is left empty. Nothing when there is
/// no such place, as to pip. Throws Error(environment) for what cannot be read.
std::vector<Candidate> read_local_links(const std::filesystem::path& place);

/// The links of a local page in HTML; nothing when there is none.
std::vector<Candidate> read_local_page(const std::filesystem::path& file);

}  // namespace autopack::index
