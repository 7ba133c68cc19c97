#pragma once

#include "project/package.hpp"

#include <toml++/toml.h>

#include <string>
#include <vector>

namespace autopack::project {

/// A string or an array of strings; other values are left out.
std::vector<std::string> strings_of(toml::node_view<const toml::node> value);

/// What the tables of one build backend in pyproject.toml say about layout and files.
void read_flit(PackageDraft& draft, const toml::table& document);
void read_hatch(PackageDraft& draft, const toml::table& document);
void read_poetry(PackageDraft& draft, const toml::table& document);
void read_pdm(PackageDraft& draft, const toml::table& document);

}  // namespace autopack::project
