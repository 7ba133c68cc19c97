#include "project/requirements/requirement_inputs.hpp"

#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace autopack::project {

namespace {

/// Returns true for the directory of the project itself, as `pip freeze` writes it.
bool is_directory_of(const source::Tree& tree, std::string_view path) {
  std::error_code failure;
  return std::filesystem::equivalent(path, tree.describe(), failure) && !failure;
}

}  // namespace

std::optional<std::string> RequirementInputs::inside(std::string_view path,
                                                     std::string_view directory,
                                                     const RequirementPosition& position) const {
  if (!variables_of(path).empty()) {
    findings_->error(
        fmt::format("the path `{}` holds a variable, so autopack cannot determine the file",
                    printable(path)),
        position.str(), {"write the path out"});
    return std::nullopt;
  }
  if (path.starts_with('/') && is_directory_of(findings_->tree(), path)) {
    return "";
  }
  auto normal =
      path.starts_with('/') ? std::nullopt : source::normalise(join_path(directory, path));
  if (!normal) {
    std::vector<std::string> hints{
        fmt::format("--extra-packages={} installs it from there", shell_quote(path))};
    const auto beside = path.starts_with('/')
                            ? std::nullopt
                            : source::normalise(join_path(parent_path(position.file), path));
    if (beside) {
      hints = {fmt::format("pip reads paths from the working directory: write `{}`",
                           beside->empty() ? "." : "./" + *beside)};
    }
    findings_->error(fmt::format("`{}` leads out of the working directory", printable(path)),
                     position.str(), std::move(hints));
  }
  return normal;
}

bool RequirementInputs::take(const std::string& path,
                             const Place& place,
                             const std::string& origin) const {
  if (place.kind == Place::Kind::leaves) {
    findings_->error(
        fmt::format("`{}` leads out of the working directory by a symbolic link", path), origin);
    return false;
  }
  if (!place.is_file() && !place.is_directory()) {
    const auto beside = source::normalise(join_path(parent_path(origin), path));
    std::vector<std::string> hints = Findings::suggest(path, findings_->files_below(""));
    if (beside && *beside != path && findings_->follow(*beside).kind == Place::Kind::found) {
      hints = {fmt::format("pip reads paths from the working directory: write `./{}`", *beside)};
    }
    constexpr auto* usual = "requirements.txt";
    if (origin.empty() && hints.empty() && findings_->is_file(usual)) {
      hints.push_back(fmt::format("did you mean `{}`?", usual));
    }
    findings_->error(fmt::format("`{}` does not exist", path),
                     origin.empty() ? "requirements-file" : origin, std::move(hints));
    return false;
  }
  const std::string why =
      origin.empty() ? "which holds the requirements" : fmt::format("named at {}", origin);
  bool included = findings_->require_included(place.entry.path, why);
  for (const auto& link : place.links) {
    included = findings_->require_included(link, why) && included;
  }
  auto& inputs = project_->requirement_inputs;
  inputs.insert(inputs.end(), place.links.begin(), place.links.end());
  inputs.push_back(place.entry.path);
  return included;
}

void drop_covered_inputs(const Findings& findings, Project& project) {
  auto& inputs = project.requirement_inputs;
  sort_unique(inputs);
  std::vector<std::string> directories;
  std::ranges::copy_if(inputs, std::back_inserter(directories), [&](const auto& path) {
    const auto entry = findings.tree().find(path);
    return entry && entry->type == source::EntryType::directory;
  });
  std::erase_if(inputs, [&](const std::string& path) {
    return std::ranges::any_of(directories, [&](const std::string& directory) {
      return path != directory && is_below(path, directory);
    });
  });
}

}  // namespace autopack::project
