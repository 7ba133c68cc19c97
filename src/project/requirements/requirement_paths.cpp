#include "base/digest.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "base/url.hpp"
#include "project/foreign_paths.hpp"
#include "project/requirements/requirements_reader.hpp"
#include "python/archive_name.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

namespace autopack::project {

namespace {

bool is_remote(std::string_view text) {
  const auto url = Url::parse(text);
  return url && url->scheme != "file";
}

}  // namespace

std::string shown_source(std::string_view text) {
  std::string result = redact_credentials(std::string{text});
  const auto question = result.find('?');
  if (result.find("://") == std::string::npos || question == std::string::npos) {
    return result;
  }
  const auto end = std::min(result.find('#', question), result.size());
  const std::string query = result.substr(question + 1, end - question - 1);
  return result.replace(question + 1, end - question - 1, sha256(query).hex().substr(0, 16));
}

void RequirementsReader::read_nested(std::string_view value,
                                     bool constraint,
                                     const RequirementPosition& position) {
  if (is_remote(value)) {
    project_->normalised_requirements.push_back(
        fmt::format("{} {}", constraint ? "-c" : "-r", shown_source(value)));
    project_->listed_options.push_back(
        {constraint ? "--constraint" : "--requirement", shown_source(value), position.str()});
    findings_->warn(
        fmt::format("pip reads `{}` when the image is built: autopack cannot know when it "
                    "changes",
                    redact_url(value)),
        position.str());
    return;
  }
  const bool url = to_lower(value).starts_with("file:");
  const std::string target = url ? python::parse_requirement(value).target : std::string{value};
  const auto path = inputs_.inside(target, url ? "" : parent_path(position.file), position);
  if (path) {
    read(*path, constraint, position.str());
  }
}

void RequirementsReader::read_find_links(std::string_view value,
                                         const RequirementPosition& position) {
  if (is_remote(value)) {
    return;
  }
  const bool url = to_lower(value).starts_with("file:");
  const std::string target = url ? python::parse_requirement(value).target : std::string{value};
  const auto beside = source::normalise(join_path(parent_path(position.file), target));
  const bool is_beside = !url && !target.starts_with('/') && beside &&
                         findings_->follow(*beside).kind == Place::Kind::found;
  const auto path = inputs_.inside(target, is_beside ? parent_path(position.file) : "", position);
  if (!path) {
    return;
  }
  if (!path->empty()) {
    inputs_.take(*path, findings_->follow(*path), position.str());
    return;
  }
  // Using the whole tree would reinstall on every edit of the code: pip only reads archives.
  for (const auto& entry : findings_->tree().list("")) {
    if (python::is_archive_name(entry.path) && !findings_->is_ignored(entry.path)) {
      inputs_.take(entry.path, findings_->follow(entry.path), position.str());
    }
  }
}

void RequirementsReader::read_path(const python::Requirement& requirement,
                                   bool editable,
                                   bool is_moved,
                                   const RequirementPosition& position) {
  if (const auto foreign = path_of_another_machine(requirement)) {
    findings_->error(foreign->message, position.str(), foreign->hints);
    return;
  }
  const auto path = inputs_.inside(requirement.target, "", position);
  if (!path) {
    return;
  }
  const Place place = findings_->follow(*path);
  if (place.is_directory() && place.entry.path.empty()) {
    project_->listed_requirements.pop_back();
    read_self(requirement, position);
    return;
  }
  project_->listed_requirements.back().requirement.target = *path;
  if (!inputs_.take(*path, place, position.str())) {
    return;
  }
  const std::string marker =
      is_moved && requirement.marker ? " ; " + *requirement.marker : std::string{};
  if (place.is_directory()) {
    if (!findings_->is_file(join_path(*path, "setup.py")) &&
        !findings_->is_file(join_path(*path, "pyproject.toml"))) {
      findings_->error(
          fmt::format("`{}` cannot be installed: it has no setup.py and no pyproject.toml", *path),
          position.str());
    } else if (editable || is_moved) {
      const std::string extras =
          requirement.extras.empty() ? "" : "[" + join(requirement.extras, ",") + "]";
      edit(position, "./" + *path + extras + marker);
    }
    return;
  }
  if (editable) {
    findings_->error(fmt::format("`-e {}` is a file: only a directory can be editable", *path),
                     position.str(), {fmt::format("write `./{}` without `-e`", *path)});
  } else if (!python::is_archive_name(*path)) {
    findings_->error(fmt::format("`{}` is neither a wheel, an sdist nor a directory", *path),
                     position.str(),
                     {fmt::format("write `-r {}` when it holds requirements", *path)});
  } else if (const auto wrong = path->ends_with(".whl") ? python::check_wheel_name(base_name(*path))
                                                        : std::nullopt) {
    findings_->error(*wrong, position.str());
  } else if (is_moved) {
    edit(position, "./" + *path + marker);
  }
}

void RequirementsReader::read_self(const python::Requirement& requirement,
                                   const RequirementPosition& position) {
  if (!project_->package) {
    findings_->error("`.` cannot be installed: it has no setup.py and no pyproject.toml",
                     position.str());
    return;
  }
  auto& extras = project_->package->extras;
  extras.insert(extras.end(), requirement.extras.begin(), requirement.extras.end());
  sort_unique(extras);
  edit(position, "");
}

}  // namespace autopack::project
