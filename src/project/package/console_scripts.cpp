#include "project/package/console_scripts.hpp"

#include "base/ini.hpp"
#include "base/text.hpp"
#include "project/code/setup_py.hpp"
#include "project/tables/python_names.hpp"
#include "project/toml.hpp"

#include <algorithm>

namespace autopack::project {

namespace {

using Scripts = std::map<std::string, std::string>;

/// Returns `trainer.cli` for `trainer.cli:main [extra]`; nothing for other text.
std::optional<std::string> module_of_object(std::string_view object) {
  std::string module{trim(object.substr(0, object.find_first_of(":[")))};
  const auto parts = split(module, '.');
  return std::ranges::all_of(parts, is_identifier) ? std::optional{std::move(module)}
                                                   : std::nullopt;
}

/// Parses `my-train = trainer.cli:main`.
void add_line(Scripts& scripts, std::string_view line) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos || line.find(':', equals) == std::string_view::npos) {
    return;
  }
  const std::string name{trim(line.substr(0, equals))};
  const auto module = module_of_object(trim(line.substr(equals + 1)));
  if (module && is_alphanumeric(name, "-_.") && !name.empty()) {
    scripts.emplace(name, *module);
  }
}

void add_pyproject(Scripts& scripts, const std::string& text) {
  toml::table document;
  try {
    document = parse_toml(text);
  } catch (const toml::parse_error&) {
    return;
  }
  for (const auto& table : {document["project"]["scripts"], document["tool"]["poetry"]["scripts"],
                            document["tool"]["flit"]["scripts"]}) {
    if (const auto* const entries = table.as_table()) {
      for (const auto& [name, value] : *entries) {
        if (const auto module = module_of_object(value.value_or(std::string{}))) {
          scripts.emplace(name.str(), *module);
        }
      }
    }
  }
}

}  // namespace

std::map<std::string, std::string> console_scripts(const Findings& findings) {
  Scripts scripts;
  const auto read = [&](const char* name) {
    const Place place = findings.follow(name);
    return place.is_file() ? findings.tree().read(place.entry.path) : std::string{};
  };
  add_pyproject(scripts, read("pyproject.toml"));
  const Ini ini = parse_ini(read("setup.cfg"));
  if (const auto section = ini.find("options.entry_points"); section != ini.end()) {
    if (const auto entries = section->second.find("console_scripts");
        entries != section->second.end()) {
      for (const auto& line : split(entries->second, '\n')) {
        add_line(scripts, line);
      }
    }
  }
  for (const auto& literal : read_setup_py(read("setup.py")).literals) {
    for (const auto& line : split(literal, '\n')) {
      add_line(scripts, line);
    }
  }
  return scripts;
}

}  // namespace autopack::project
