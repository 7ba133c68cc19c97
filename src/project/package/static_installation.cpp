#include "project/package/static_installation.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/findings.hpp"
#include "project/package/core_metadata.hpp"
#include "project/package/looking_tree.hpp"
#include "project/package/module_layout.hpp"
#include "project/package/version_control.hpp"
#include "project/toml.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace autopack::project {

namespace {

const std::string settings_file = "pyproject.toml";

/// Returns why the known facts of `package` already require its build; nothing if none do.
std::optional<std::string> reason_of(const Package& package) {
  if (package.version_control) {
    return "its version comes from " + package.version_control->tool;
  }
  if (!package.members.empty()) {
    return "packages of its workspace are installed along";
  }
  if (!package.isolated || package.needs_pyproject) {
    return "setup.py or setup.cfg describes it";
  }
  return std::nullopt;
}

/// Build requirements other than build backends may change the build.
std::optional<std::string> refuse_plugins(const toml::table& document) {
  static constexpr std::array<std::string_view, 8> backends{
      "setuptools", "wheel",       "hatchling",   "editables",
      "flit-core",  "poetry-core", "pdm-backend", "uv-build"};
  const auto* const system = document["build-system"].as_table();
  if (system == nullptr) {
    return std::nullopt;
  }
  for (const auto& [key, value] : *system) {
    if (key != "requires" && key != "build-backend") {
      return fmt::format("`build-system.{}` may say otherwise", printable(key.str()));
    }
  }
  const auto* const requires_list = (*system)["requires"].as_array();
  if (requires_list == nullptr) {
    return "`build-system.requires` is missing";
  }
  for (const auto& item : *requires_list) {
    const auto text = item.value_or(std::string{});
    const auto name = python::parse_requirement(text).name;
    if (!contains(backends, name)) {
      return fmt::format("its build asks for `{}`", printable(text));
    }
  }
  return std::nullopt;
}

std::optional<std::string> read_all(const Package& package,
                                    LookingTree& tree,
                                    StaticInstallation& installation) {
  const auto text = tree.read(settings_file, largest_toml);
  if (!text) {
    return "it has no pyproject.toml";
  }
  try {
    const auto document = parse_toml(*text);
    if (auto reason = refuse_plugins(document)) {
      return reason;
    }
    if (auto reason = read_core_metadata(document, tree, installation)) {
      return reason;
    }
    return read_module_layout(document, package, tree, installation);
  } catch (const toml::parse_error&) {
    return "pyproject.toml cannot be read";
  }
}

}  // namespace

StaticInstallation static_installation(const source::Tree& tree, const Project& project) {
  if (!project.package || (!project.package->installs && project.package->members.empty())) {
    return {.reason = "there is no package to install"};
  }
  const auto& package = *project.package;
  if (auto reason = reason_of(package)) {
    return {.reason = std::move(reason)};
  }
  LookingTree looking{Findings{tree, project.ignore}};
  StaticInstallation installation;
  if (auto reason = read_all(package, looking, installation)) {
    return {.reason = std::move(reason)};
  }
  installation.looked = looking.looked();
  return installation;
}

}  // namespace autopack::project
