#pragma once

#include "project/package/looking_tree.hpp"
#include "project/toml.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

// The project's files that its metadata includes. All functions throw as described in
// project_fields.hpp.

/// Returns the text of the file that `[project]` names at `key`.
std::string read_named_text(LookingTree& tree, const std::string& file, std::string_view key);

/// Returns the texts of licenses by their paths: the file in `license`, those in `license-files`,
/// else those that build backends look for.
std::map<std::string, std::string> read_licenses(const toml::table& project, LookingTree& tree);

struct Readme {
  std::string type{};  ///< `text/markdown`
  std::string text{};
};

/// Returns nothing if `[project]` names none.
std::optional<Readme> read_readme(const toml::table& project, LookingTree& tree);

}  // namespace autopack::project
