#pragma once

#include "index/candidate.hpp"

#include <filesystem>
#include <vector>

namespace autopack::index {

/// Returns the files in a local place of `find-links`: the archives of a directory and the links of
/// its pages, the links of a page, or one archive. Sorted; `index` stays empty. Like pip, returns
/// nothing if there is no such place. Throws Error(environment) if something cannot be read.
std::vector<Candidate> read_local_links(const std::filesystem::path& place);

/// Returns the links of a local HTML page; nothing if it does not exist.
std::vector<Candidate> read_local_page(const std::filesystem::path& file);

}  // namespace autopack::index
