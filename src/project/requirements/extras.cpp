#include "project/requirements/extras.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "base/url.hpp"
#include "project/findings.hpp"
#include "project/project.hpp"
#include "project/requirements/poetry_tables.hpp"
#include "project/toml.hpp"
#include "python/archive_name.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

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
  GroupReader(Findings& findings, const Groups& groups) : findings_{findings}, groups_{groups} {}

  std::vector<std::string> take() { return std::move(requirements_); }

  void read(const std::string& name) {
    const std::string wanted = python::normalise_name(name);
    if (contains(seen_, wanted)) {
      return;
    }
    seen_.push_back(wanted);
    std::vector<std::string> names;
    for (const auto& [key, items] : groups_) {
      if (python::normalise_name(key) == wanted) {
        read_all(items());
        return;
      }
      names.push_back(key);
    }
    findings_.error(fmt::format("`pyproject.toml` has no group `{}`", printable(name)), "group",
                    did_you_mean(name, names, "the groups are"));
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
  const Groups& groups_;
  std::vector<std::string> requirements_;
  std::vector<std::string> seen_;
};

/// Returns the requirements of the requested groups: `[dependency-groups]` of pyproject.toml (PEP
/// 735), else Poetry's.
std::vector<std::string> read_groups(Findings& findings, const Request& request) {
  if (request.groups.empty()) {
    return {};
  }
  const auto document = pyproject_of(findings).value_or(toml::table{});
  Groups groups;
  if (const auto* const standard = document["dependency-groups"].as_table()) {
    for (const auto& [name, items] : *standard) {
      if (const auto* const array = items.as_array()) {
        groups.emplace(name.str(), [array] { return *array; });
      }
    }
  } else if (document["tool"]["poetry"].is_table()) {
    groups = poetry_groups(findings, document);
  }
  if (groups.empty()) {
    findings.error("`pyproject.toml` has no `[dependency-groups]`", "group");
    return {};
  }
  GroupReader reader{findings, groups};
  for (const auto& name : request.groups) {
    reader.read(name);
  }
  return reader.take();
}

/// Adds the requested extras; one that pyproject.toml does not define is an error.
void read_package_extras(Findings& findings, const Request& request, Project& project) {
  if (request.package_extras.empty()) {
    return;
  }
  if (!project.package) {
    findings.error(fmt::format("the project is not a package, so it has no extra `{}`",
                               printable(request.package_extras.front())),
                   "extra", {"`--requirements=NAME` installs a distribution"});
    return;
  }
  const auto document = pyproject_of(findings);
  const auto* const known =
      document ? (*document)["project"]["optional-dependencies"].as_table() : nullptr;
  const bool is_dynamic =
      project.package->installs &&
      (!document || !(*document)["project"].is_table() || (*document)["project"]["dynamic"]);
  auto names = known == nullptr ? std::vector<std::string>{} : names_of(*known);
  if (known == nullptr) {
    for (const auto& [extra, requirements] : project.package->extra_requirements) {
      names.push_back(extra);
    }
  }
  for (const auto& extra : request.package_extras) {
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

}  // namespace

namespace fs = std::filesystem;

namespace {

/// A path outside the tree, described as if in the tree.
struct Outside {
  fs::path path{};
  bool exists{false};
  bool is_directory{false};
};

Outside look(const Request& request, const std::string& path) {
  std::error_code code;
  Outside outside;
  // Lexically, to keep the typed name if it is a link.
  outside.path = (fs::absolute(request.directory, code) / path).lexically_normal();
  if (!outside.path.has_filename()) {
    outside.path = outside.path.parent_path();
  }
  const auto status = fs::status(outside.path, code);
  outside.is_directory = fs::is_directory(status);
  outside.exists = outside.is_directory || fs::is_regular_file(status);
  return outside;
}

std::string file_hint(std::string_view file) {
  return fmt::format("`--requirements-file={}` takes a requirements file", shell_quote(file));
}

/// Returns the remedy for an option of pip among the requirements.
std::string option_hint(std::string_view option) {
  for (const std::string_view name : {"--requirement", "-r"}) {
    if (option.starts_with(name)) {
      const auto file = trim(option.substr(name.size()));
      return file_hint(file.starts_with('=') ? file.substr(1) : file);
    }
  }
  return "write it into requirements.txt";
}

class ExtrasReader {
public:
  ExtrasReader(Findings& findings, const Request& request, Project& project)
      : findings_{&findings}, request_{&request}, project_{&project} {}

  void read_requirement(const std::string& text, const std::string& origin);
  void read_package(const std::string& path);
  void read_directory(const std::string& path);

private:
  bool is_project(const python::Requirement& requirement) const;
  void read_project(const python::Requirement& requirement, const std::string& origin);
  bool refuse_odd(const std::string& path, const std::string& key);
  void check_package(const std::string& path, bool is_directory, bool installable);
  void add_outside(std::vector<Extra>& extras, const Outside& outside, const std::string& key);
  void report_missing(const std::string& path, const std::string& key, bool directory);

  Findings* findings_;
  const Request* request_;
  Project* project_;
};

bool ExtrasReader::is_project(const python::Requirement& requirement) const {
  if (requirement.kind == python::Requirement::Kind::path) {
    return path_in_tree(*request_, requirement.target) == "";
  }
  return project_->package && requirement.kind == python::Requirement::Kind::named &&
         project_->package->is_called(requirement.name);
}

void ExtrasReader::read_project(const python::Requirement& requirement, const std::string& origin) {
  if (!project_->package) {
    findings_->error("`.` cannot be installed: it has no setup.py and no pyproject.toml", origin);
    return;
  }
  auto& extras = project_->package->extras;
  extras.insert(extras.end(), requirement.extras.begin(), requirement.extras.end());
  sort_unique(extras);
}

void ExtrasReader::read_requirement(const std::string& text, const std::string& origin) {
  const auto bare = trim(text);
  if (bare.starts_with('-')) {
    findings_->error(fmt::format("`{}` is an option of pip, not a requirement",
                                 redact_credentials(printable(bare))),
                     origin, {option_hint(bare)});
    return;
  }
  if (holds_credentials(bare)) {
    findings_->error(
        fmt::format("`{}` holds credentials, which would be written into the Dockerfile",
                    redact_credentials(printable(bare))),
        origin, {"write it into requirements.txt with a variable such as `${TOKEN}`"});
    return;
  }
  python::WrittenRequirement written{std::string{bare}};
  const auto& requirement = written.parts;
  if (requirement.kind == python::Requirement::Kind::malformed) {
    findings_->error(
        requirement.problem, origin,
        requirement.hint ? std::vector{*requirement.hint} : std::vector<std::string>{});
  } else if (is_project(requirement)) {
    read_project(requirement, origin);
  } else if (const auto file = path_in_tree(*request_, std::string{bare});
             file && !bare.ends_with(".whl") && findings_->is_file(*file)) {
    findings_->error(fmt::format("`{}` is a file, not a requirement", printable(bare)), origin,
                     {file_hint(bare)});
  } else if (requirement.kind == python::Requirement::Kind::path) {
    findings_->error(fmt::format("`{}` is a path, not a requirement", printable(bare)), origin,
                     {fmt::format("--extra-packages {}", shell_quote(requirement.target))});
  } else {
    written.origin = origin;
    project_->requirements.push_back(std::move(written));
  }
}

bool ExtrasReader::refuse_odd(const std::string& path, const std::string& key) {
  if (trim(path).empty()) {
    findings_->error("an empty path", key);
    return true;
  }
  if (const auto url = Url::parse(path)) {
    findings_->error(fmt::format("`{}` is a URL, not a path", redact_url(path)), key,
                     url->scheme == "gs"
                         ? std::vector{fmt::format("gsutil cp {} .", shell_quote(redact_url(path)))}
                         : std::vector{std::string{"--requirements takes URLs"}});
    return true;
  }
  return false;
}

void ExtrasReader::report_missing(const std::string& path, const std::string& key, bool directory) {
  std::vector<std::string> candidates;
  for (const auto& entry : findings_->tree().list(parent_path(path))) {
    candidates.push_back(entry.path);
  }
  auto hints = Findings::suggest(path, candidates);
  const auto requirement = python::parse_requirement(path);
  if (hints.empty() && !directory && requirement.kind == python::Requirement::Kind::named) {
    hints.push_back(fmt::format("--requirements {}", shell_quote(path)));
  }
  findings_->error(fmt::format("extra {} `{}` does not exist", directory ? "directory" : "package",
                               printable(path)),
                   key, std::move(hints));
}

void ExtrasReader::check_package(const std::string& path, bool is_directory, bool installable) {
  const std::string key = "extra-packages";
  if (is_directory) {
    if (!installable) {
      findings_->error(
          fmt::format("extra package `{}` cannot be installed: it has no setup.py and no "
                      "pyproject.toml",
                      printable(path)),
          key, {fmt::format("--extra-dirs {} copies it", shell_quote(path))});
    }
  } else if (!python::is_archive_name(path)) {
    findings_->error(fmt::format("extra package `{}` is neither a wheel, an sdist nor a directory",
                                 printable(path)),
                     key);
  } else if (const auto wrong = path.ends_with(".whl") ? python::check_wheel_name(base_name(path))
                                                       : std::nullopt) {
    findings_->error(*wrong, key);
  }
}

void ExtrasReader::read_package(const std::string& path) {
  const std::string key = "extra-packages";
  if (refuse_odd(path, key)) {
    return;
  }
  const auto inside = path_in_tree(*request_, path);
  if (!inside) {
    const auto outside = look(*request_, path);
    if (!outside.exists) {
      report_missing(path, key, false);
      return;
    }
    check_package(
        outside.path.string(), outside.is_directory,
        fs::exists(outside.path / "setup.py") || fs::exists(outside.path / "pyproject.toml"));
    add_outside(project_->outside_packages, outside, key);
    return;
  }
  const Place place = findings_->follow(*inside);
  if (inside->empty()) {
    findings_->error("`.` is the project itself, which is installed without being named", key);
  } else if (place.kind == Place::Kind::leaves) {
    findings_->error(
        fmt::format("extra package `{}` leads out of the working directory by a symbolic link",
                    printable(*inside)),
        key, {"name the target of the link"});
  } else if (!place.is_file() && !place.is_directory()) {
    report_missing(*inside, key, false);
  } else {
    check_package(*inside, place.is_directory(),
                  findings_->is_file(*inside + "/setup.py") ||
                      findings_->is_file(*inside + "/pyproject.toml"));
    findings_->require_included(place.entry.path, "an extra package");
    project_->extra_packages.push_back(place.entry.path);
  }
}

void ExtrasReader::read_directory(const std::string& path) {
  const std::string key = "extra-dirs";
  if (refuse_odd(path, key)) {
    return;
  }
  const auto inside = path_in_tree(*request_, path);
  if (!inside) {
    const auto outside = look(*request_, path);
    if (!outside.exists) {
      report_missing(path, key, true);
    } else {
      add_outside(project_->outside_dirs, outside, key);
    }
    return;
  }
  const Place place = findings_->follow(*inside);
  if (place.kind == Place::Kind::leaves) {
    findings_->error(fmt::format("extra directory `{}` leads out of the working directory by a "
                                 "symbolic link",
                                 printable(*inside)),
                     key, {"name the target of the link"});
  } else if (!place.is_file() && !place.is_directory()) {
    report_missing(*inside, key, true);
  } else {
    findings_->require_included(place.entry.path, "an extra directory");
    project_->extra_dirs.push_back(*inside);
  }
}

void ExtrasReader::add_outside(std::vector<Extra>& extras,
                               const Outside& outside,
                               const std::string& key) {
  const std::string name = outside.path.filename().string();
  const auto same =
      std::ranges::find_if(extras, [&](const Extra& extra) { return extra.name == name; });
  if (same != extras.end()) {
    if (same->path != outside.path) {
      findings_->error(fmt::format("`{}` and `{}` would have the same name `{}` in the image",
                                   same->path.string(), outside.path.string(), printable(name)),
                       key);
    }
    return;
  }
  if (key == "extra-dirs" && findings_->tree().find(name)) {
    findings_->error(fmt::format("`{}` would take the place of the working directory's own `{}`",
                                 outside.path.string(), printable(name)),
                     key);
    return;
  }
  extras.push_back({name, outside.path, outside.is_directory});
}

/// Keeps the first of the elements with the same `text_of`.
template <typename Element, typename TextOf>
void drop_repeated(std::vector<Element>& list, TextOf text_of) {
  std::set<std::string> seen;
  std::erase_if(list, [&](const Element& element) {
    return !seen.insert(std::invoke(text_of, element)).second;
  });
}

}  // namespace

void read_extras(Findings& findings,
                 const Request& request,
                 const std::vector<std::pair<std::string, std::string>>& found,
                 Project& project) {
  ExtrasReader reader{findings, request, project};
  for (const auto& requirement : request.requirements) {
    reader.read_requirement(requirement, "requirements");
  }
  for (const auto& [requirement, origin] : found) {
    reader.read_requirement(requirement, origin);
  }
  // A lock contains them.
  if (!project.lock) {
    for (const auto& requirement : read_groups(findings, request)) {
      reader.read_requirement(requirement, "pyproject.toml dependency-groups");
    }
    read_package_extras(findings, request, project);
  }
  for (const auto& package : request.extra_packages) {
    reader.read_package(package);
  }
  for (const auto& directory : request.extra_dirs) {
    reader.read_directory(directory);
  }
  drop_repeated(project.requirements, &python::WrittenRequirement::text);
  drop_repeated(project.extra_packages, std::identity{});
  drop_repeated(project.extra_dirs, std::identity{});
}

}  // namespace autopack::project
