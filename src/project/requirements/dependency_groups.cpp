#include "project/requirements/dependency_groups.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/toml.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace autopack::project {

namespace {

std::optional<toml::table> pyproject_of(const Findings& findings) {
  const Place place = findings.follow("pyproject.toml");
  if (!place.is_file()) {
    return std::nullopt;
  }
  try {
    return parse_toml(findings.tree().read(place.entry.path));
  } catch (const toml::parse_error&) {
    return std::nullopt;  // reported where the package is read
  }
}

std::vector<std::string> names_of(const toml::table& table) {
  std::vector<std::string> names;
  for (const auto& [name, value] : table) {
    names.emplace_back(name.str());
  }
  return names;
}

std::vector<std::string> did_you_mean(const std::string& name,
                                      const std::vector<std::string>& names,
                                      const char* what) {
  if (const auto near = nearest(name, names)) {
    return {fmt::format("did you mean `{}`?", *near)};
  }
  return names.empty() ? std::vector<std::string>{}
                       : std::vector{fmt::format("{}: `{}`", what, join(names, "`, `"))};
}

class GroupReader {
public:
  GroupReader(Findings& findings, const toml::table& groups)
      : findings_{findings}, groups_{groups} {}

  std::vector<std::string> take() { return std::move(requirements_); }

  void read(const std::string& name) {
    const std::string wanted = python::normalise_name(name);
    if (contains(seen_, wanted)) {
      return;
    }
    seen_.push_back(wanted);
    for (const auto& [key, value] : groups_) {
      if (python::normalise_name(key.str()) == wanted && value.is_array()) {
        read_all(*value.as_array());
        return;
      }
    }
    findings_.error(fmt::format("`[dependency-groups]` has no group `{}`", printable(name)),
                    "group", did_you_mean(name, names_of(groups_), "the groups are"));
  }

private:
  void read_all(const toml::array& items) {
    for (const auto& item : items) {
      if (const auto text = item.value<std::string>()) {
        requirements_.push_back(*text);
      } else if (const auto* const table = item.as_table()) {
        if (const auto other = (*table)["include-group"].value<std::string>()) {
          read(*other);
        }
      }
    }
  }

  Findings& findings_;
  const toml::table& groups_;
  std::vector<std::string> requirements_;
  std::vector<std::string> seen_;
};

}  // namespace

std::vector<std::string> read_groups(Findings& findings, const Request& request) {
  if (request.groups.empty()) {
    return {};
  }
  const auto document = pyproject_of(findings);
  const auto* const groups = document ? (*document)["dependency-groups"].as_table() : nullptr;
  if (groups == nullptr) {
    const bool is_of_poetry = document && (*document)["tool"]["poetry"]["group"].is_table();
    findings.error("`pyproject.toml` has no `[dependency-groups]`", "group",
                   is_of_poetry ? std::vector<std::string>{"groups of Poetry are read from the "
                                                           "poetry.lock of Poetry 2.1 or newer: "
                                                           "`poetry lock`"}
                                : std::vector<std::string>{});
    return {};
  }
  GroupReader reader{findings, *groups};
  for (const auto& name : request.groups) {
    reader.read(name);
  }
  return reader.take();
}

void read_package_extras(Findings& findings, const Request& request, Project& project) {
  if (request.package_extras.empty()) {
    return;
  }
  if (!project.package) {
    findings.error(fmt::format("the project is no package, so it has no extra `{}`",
                               printable(request.package_extras.front())),
                   "extra", {"`--requirements=NAME` installs a distribution"});
    return;
  }
  const auto document = pyproject_of(findings);
  const auto* const known =
      document ? (*document)["project"]["optional-dependencies"].as_table() : nullptr;
  const bool is_dynamic =
      !document || !(*document)["project"].is_table() || (*document)["project"]["dynamic"];
  for (const auto& extra : request.package_extras) {
    const auto names = known == nullptr ? std::vector<std::string>{} : names_of(*known);
    const bool defined = std::ranges::any_of(names, [&](const auto& name) {
      return python::normalise_name(name) == python::normalise_name(extra);
    });
    if (!is_alphanumeric(extra, "-_.") || (!defined && !is_dynamic)) {
      findings.error(fmt::format("the project has no extra `{}`", printable(extra)), "extra",
                     did_you_mean(extra, names, "its extras are"));
    } else {
      project.package->extras.push_back(extra);
    }
  }
  sort_unique(project.package->extras);
}

}  // namespace autopack::project
