#include "pipeline/scan.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "pipeline/secrets.hpp"
#include "project/findings.hpp"
#include "project/program/inference.hpp"
#include "project/program/notebook.hpp"
#include "project/program/remembered_python.hpp"
#include "project/requirements/pip_options.hpp"
#include "source/remembering_tree.hpp"
#include "source/unread_git_settings.hpp"
#include "state/cache_files.hpp"
#include "state/project_files.hpp"

#include <fmt/format.h>

namespace autopack::pipeline {

namespace {

/// In bytes, for all projects.
constexpr std::uint64_t most_python_kept{128'000'000};

/// Refuses paths that would be read from the disk although the files come from git.
void refuse_files_of_disk(const packaging::Request& request,
                          const packaging::ScannedProject& scanned) {
  Problems problems;
  const auto refuse = [&](const std::string& what, const std::string& path) {
    problems.push_back({.message = fmt::format("{} `{}` is not in {}", what, printable(path),
                                               scanned.tree->describe()),
                        .hints = {"`--source=worktree` reads the files on the disk"}});
  };
  for (const auto& extra : scanned.project.outside_packages) {
    refuse("extra package", extra.path.string());
  }
  for (const auto& extra : scanned.project.outside_dirs) {
    refuse("extra directory", extra.path.string());
  }
  if (const auto& dockerfile = request.project.dockerfile) {
    const auto inside = project::path_in_tree(request.project, dockerfile->string());
    if (!inside || !scanned.tree->find(*inside)) {
      refuse("Dockerfile", dockerfile->string());
    }
  }
  if (request.options.templates) {
    refuse("the directory of templates", request.options.templates->string());
  }
  throw_if_errors(problems, ErrorKind::usage);
}

/// Finds git's facts; if they are only informative, a failure is ignored.
void find_facts(const packaging::Request& request, packaging::ScannedProject& scanned) {
  try {
    scanned.git =
        source::find_git_facts(request.project.directory, request.source, request.environment);
  } catch (const Error& error) {
    if (request.label_git) {
      throw;
    }
    scanned.project.warnings.push_back(Problem::warning(
        {.message = fmt::format(
             "the result contains nothing about git: {}",
             join(error.causes().empty() ? std::vector{error.message()}
                                         : std::vector{error.message(), error.causes().back()},
                  ": ")),
         .hints = error.hints()}));
  }
}

project::VersionSources version_sources(const packaging::Request& request) {
  return {.describe =
              [&request](const source::GitTagQuery& tags) {
                return source::describe_in_git(request.project.directory, request.source,
                                               request.environment, tags);
              },
          .variable =
              [&request](const std::string& name) {
                const auto& for_build = request.options.build_environment;
                const auto found = for_build.find(name);
                return found == for_build.end() ? request.environment.get(name)
                                                : std::optional{found->second};
              }};
}

/// Returns true if both name the same directory; false if one does not exist.
bool is_same_directory(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::error_code failure;
  return std::filesystem::equivalent(one, other, failure) && !failure;
}

/// The root directory is not a project, and takes minutes to read.
void refuse_root(const std::filesystem::path& directory) {
  if (is_same_directory(directory, "/")) {
    throw Error(ErrorKind::usage, "the project directory is `/`, which holds the whole machine")
        .hint("`autopack -C DIR ...` works in the directory of the project");
  }
}

void warn_of_home(const packaging::Request& request, packaging::ScannedProject& scanned) {
  const auto& directory = request.project.directory;
  if (!request.is_from_git() && is_same_directory(directory, request.environment.home())) {
    scanned.project.warnings.push_back(Problem::warning(
        {.message = fmt::format("the project directory `{}` is your home directory: all of it goes "
                                "into the image, except the files that rules exclude",
                                printable(std::filesystem::absolute(directory).string())),
         .hints = {"`autopack -C DIR ...` works in the directory of the project",
                   "`autopack explain` lists what goes in"}}));
  }
}

std::shared_ptr<const source::Tree> open_tree(const packaging::Request& request, Walks walks) {
  const auto& directory = request.project.directory;
  refuse_root(directory);
  auto tree = source::counted(
      request.is_from_git() ? source::make_git_tree(directory, request.source, request.environment)
                            : source::make_disk_tree(directory),
      request.read_count);
  return walks == Walks::several ? source::remembering(std::move(tree)) : std::move(tree);
}

/// Returns the files that the rules include, for a project that cannot be scanned.
source::Selection selection_of(const source::Tree& tree, const project::Request& request) {
  return {tree, {.include = request.include, .exclude = request.exclude}, request.git};
}

/// A project before it is read.
struct OpenedProject {
  std::shared_ptr<const source::Tree> tree{};
  project::Request project{};
};

/// Returns `~/taxi`, or the whole path of a directory elsewhere.
std::string name_of_directory(const packaging::Request& request) {
  std::error_code code;
  const auto path = std::filesystem::weakly_canonical(
      std::filesystem::absolute(request.project.directory, code), code);
  const auto name = code ? request.project.directory.string() : path.string();
  const auto home = request.environment.home().string() + "/";
  return home.size() > 1 && name.starts_with(home) ? "~/" + name.substr(home.size()) : name;
}

std::filesystem::path memory_of(const packaging::Request& request) {
  return state::python_file(request.environment.cache_directory(), request.project.directory,
                            request.is_from_git());
}

/// `request` must outlive the result.
OpenedProject open_project(const packaging::Request& request, Walks walks) {
  OpenedProject opened{.tree = open_tree(request, walks), .project = request.project};
  auto& project = opened.project;
  if (!request.is_from_git() && !project.dockerfile) {
    project.git = source::find_git_work_tree(project.directory, request.environment);
  }
  project.versions = version_sources(request);
  project.pip = project::find_user_pip(request.environment);
  project.python = std::make_shared<project::RememberedPython>(
      state::read_quietly(memory_of(request)).value_or(""));
  return opened;
}

packaging::ScannedProject scan_opened(const packaging::Request& request, OpenedProject opened) {
  packaging::ScannedProject scanned{.tree = std::move(opened.tree)};
  scanned.project = with_secrets(
      *scanned.tree, [&] { return selection_of(*scanned.tree, opened.project); },
      [&] { return project::scan(*scanned.tree, opened.project); });
  if (const auto text = opened.project.python->text_to_save()) {
    state::write_quietly(memory_of(request), *text, most_python_kept);
  }
  if (opened.project.git && scanned.project.ignore.asks_git()) {
    if (auto warning =
            source::unread_git_settings(request.project.directory, request.environment)) {
      scanned.project.warnings.push_back(std::move(*warning));
    }
  }
  if (request.is_from_git()) {
    refuse_files_of_disk(request, scanned);
  }
  warn_of_home(request, scanned);
  if (request.label_git || request.reports_git) {
    find_facts(request, scanned);
  }
  if (request.label_git && !scanned.git) {
    throw Error(ErrorKind::usage, fmt::format("`--label-git` finds no git repository at `{}`",
                                              printable(request.project.directory.string())));
  }
  return scanned;
}

}  // namespace

std::map<std::string, std::string> git_labels(const source::GitFacts& facts) {
  std::map<std::string, std::string> labels{{"autopack.git.dirty", facts.dirty ? "true" : "false"}};
  if (facts.revision) {
    labels["org.opencontainers.image.revision"] = *facts.revision;
  }
  if (facts.remote) {
    labels["org.opencontainers.image.source"] = *facts.remote;
  }
  return labels;
}

std::optional<std::string> read_from_source(const packaging::Request& request,
                                            const std::filesystem::path& path) {
  return request.is_from_git() ? source::read_git_file(path, request.source, request.environment)
                               : read_file_if_exists(path);
}

packaging::ScannedProject scan(const packaging::Request& request, Walks walks) {
  auto opened = open_project(request, walks);
  opened.tree = project::with_notebook(std::move(opened.tree), opened.project);
  return scan_opened(request, std::move(opened));
}

bool has_program(const packaging::Request& request) {
  if (is_same_directory(request.project.directory, "/")) {
    return false;
  }
  auto opened = open_project(request, Walks::several);
  return project::find_entry(*opened.tree, opened.project) ||
         !project::entry_choices(*opened.tree, opened.project).empty();
}

std::vector<project::Inferred> program_choices(const packaging::Request& request) {
  auto opened = open_project(request, Walks::several);
  return project::find_entry(*opened.tree, opened.project)
             ? std::vector<project::Inferred>{}
             : project::entry_choices(*opened.tree, opened.project);
}

std::shared_ptr<packaging::Wanted> scan_wanted(packaging::Request request, Walks walks) {
  auto wanted =
      std::make_shared<packaging::Wanted>(packaging::Wanted{.request = std::move(request)});
  auto& asked = wanted->request;
  const bool infers = asked.infers && !asked.project.dockerfile;
  auto opened = open_project(asked, walks);
  if (infers && !asked.project.has_entry()) {
    wanted->inferred.push_back(
        project::infer_entry(*opened.tree, opened.project, name_of_directory(asked)));
    project::choose_entry(wanted->inferred.back(), asked.project);
  }
  opened.tree = project::with_notebook(std::move(opened.tree), opened.project);
  asked.project.notebook = opened.project.notebook;
  wanted->scanned = scan_opened(asked, std::move(opened));
  if (infers && asked.executor_image.empty()) {
    const auto& [tree, project, git] = wanted->scanned;
    wanted->inferred.push_back(project::infer_executor_image(*tree, project));
    asked.executor_image = wanted->inferred.back().value;
  }
  return wanted;
}

}  // namespace autopack::pipeline
