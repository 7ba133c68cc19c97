#include "pipeline/scan.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "project/entry.hpp"

#include <fmt/format.h>

namespace autopack::pipeline {

namespace {

/// What would be read from the disk although the files come from git.
void refuse_files_of_disk(const packaging::Request& request,
                          const packaging::ScannedProject& scanned) {
  Problems problems;
  const auto refuse = [&](const std::string& what, const std::string& path) {
    problems.push_back({.message = fmt::format("{} `{}` is not in {}", what, printable(path),
                                               scanned.tree->describe()),
                        .hints = {"`--source=worktree` takes what is on the disk"}});
  };
  for (const auto& extra : scanned.project.outside_packages) {
    refuse("extra package", extra.path.string());
  }
  for (const auto& extra : scanned.project.outside_dirs) {
    refuse("extra directory", extra.path.string());
  }
  const std::string dockerfile = request.project.dockerfile.string();
  const auto inside = project::path_in_tree(request.project, dockerfile);
  if (!dockerfile.empty() && (!inside || !scanned.tree->find(*inside))) {
    refuse("Dockerfile", dockerfile);
  }
  if (!request.options.templates.empty()) {
    refuse("the directory of templates", request.options.templates.string());
  }
  throw_if_errors(problems, ErrorKind::usage);
}

/// Git's facts; where they are only told, an image is made without them.
void find_facts(const packaging::Request& request, packaging::ScannedProject& scanned) {
  try {
    scanned.git =
        source::find_git_facts(request.project.directory, request.source, request.environment);
  } catch (const Error& error) {
    if (request.label_git) {
      throw;
    }
    scanned.project.warnings.push_back(
        {.severity = Problem::Severity::warning,
         .message = fmt::format(
             "the result says nothing of git: {}",
             join(error.causes().empty() ? std::vector{error.message()}
                                         : std::vector{error.message(), error.causes().back()},
                  ": ")),
         .hints = error.hints()});
  }
}

}  // namespace

std::map<std::string, std::string> git_labels(const source::GitFacts& facts) {
  std::map<std::string, std::string> labels{{"autopack.git.dirty", facts.dirty ? "true" : "false"}};
  if (!facts.revision.empty()) {
    labels["org.opencontainers.image.revision"] = facts.revision;
  }
  if (!facts.remote.empty()) {
    labels["org.opencontainers.image.source"] = facts.remote;
  }
  return labels;
}

std::optional<std::string> read_from_source(const packaging::Request& request,
                                            const std::filesystem::path& path) {
  return request.is_from_git() ? source::read_git_file(path, request.source, request.environment)
                               : read_file_if_exists(path);
}

packaging::ScannedProject scan(const packaging::Request& request) {
  const auto& directory = request.project.directory;
  packaging::ScannedProject scanned;
  if (request.is_from_git()) {
    scanned.tree = source::make_git_tree(directory, request.source, request.environment);
  } else {
    scanned.tree = source::make_disk_tree(directory);
  }
  auto project = request.project;
  if (!request.is_from_git() && project.dockerfile.empty()) {
    project.git = source::find_git_work_tree(directory, request.environment);
  }
  scanned.project = project::scan(*scanned.tree, project);
  if (request.is_from_git()) {
    refuse_files_of_disk(request, scanned);
  }
  if (request.label_git || request.tells_git) {
    find_facts(request, scanned);
  }
  if (request.label_git && !scanned.git) {
    throw Error(ErrorKind::usage, fmt::format("`--label-git` finds no git repository at `{}`",
                                              printable(directory.string())));
  }
  return scanned;
}

std::shared_ptr<packaging::Wanted> scan_wanted(packaging::Request request) {
  auto wanted =
      std::make_shared<packaging::Wanted>(packaging::Wanted{.request = std::move(request)});
  wanted->scanned = scan(wanted->request);
  return wanted;
}

}  // namespace autopack::pipeline
