#pragma once

#include "project/looking_tree.hpp"
#include "project/toml.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

// The files of a project that its metadata takes in. All throw as project_fields.hpp says.

/// The text of the file that `[project]` names at `key`.
std::string read_named_text(LookingTree& tree, const std::string& file, std::string_view key);

/// The texts of licenses by their paths: the file that `license` names, those of `license-files`,
/// else those that build backends look for.
std::map<std::string, std::string> read_licenses(const toml::table& project, LookingTree& tree);

struct Readme {
  std::string type{};  ///< `text/markdown`
  std::string text{};
};

/// None when `[project]` names none.
std::optional<Readme> read_readme(const toml::table& project, LookingTree& tree);

}  // namespace autopack::project
