#include "base/file.hpp"
#include "base/text.hpp"
#include "plan/gather.hpp"
#include "plan/keys.hpp"
#include "plan/large_directories.hpp"
#include "plan/links.hpp"
#include "plan/plan.hpp"
#include "plan/pointers.hpp"
#include "plan/python_checks.hpp"
#include "plan/templates.hpp"
#include "plan/words.hpp"
#include "project/findings.hpp"
#include "project/program/launcher.hpp"
#include "project/project.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

// A plan contains every decision about an image before anything is made: the packages to install
// and how, the files to copy, the command to start. Keys are computed from the plan alone, so equal
// plans have equal images, and builders only carry out the plan.

namespace autopack::plan {

namespace {

/// Returns the program without a launcher, or after one that starts any program.
std::vector<std::string> program_words(const project::Entry& entry,
                                       const std::optional<std::string>& python) {
  const std::string path = entry.file.value_or("");
  // A name that starts with a dash would be parsed as an option of the interpreter.
  const std::string file = path.starts_with('-') ? "./" + path : path;
  switch (entry.kind) {
    case project::EntryKind::module:
    case project::EntryKind::installed_module: return {python.value(), "-m", entry.value};
    case project::EntryKind::python_script: return {python.value(), file};
    case project::EntryKind::shell_script: return {"/bin/bash", file};
    case project::EntryKind::program: return entry.words;
  }
  return {};
}

/// Returns the words of the image's ENTRYPOINT: the command that starts `entry`, preceded by its
/// launcher. `python` is the interpreter, if known.
std::vector<std::string> entrypoint_of(const project::Entry& entry,
                                       const std::optional<std::string>& python) {
  auto words = program_words(entry, python);
  if (entry.launcher.empty()) {
    return words;
  }
  auto all = entry.launcher;
  if (python && project::is_interpreter(all.front())) {
    all.front() = *python;
  }
  const auto launcher = project::find_launcher(entry.launcher);
  if (launcher && launcher->starts_python) {
    words.erase(words.begin());
    if (words.front() == "-m") {
      words.front() = launcher->module_flag.value_or("");
    }
  }
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

/// Returns a copy of `path` to itself, or of its target if it is a link; `.` and "" are the whole
/// tree.
Copy same_place(const source::Tree& tree, const std::string& path) {
  if (path.empty() || path == ".") {
    return {};
  }
  const project::Place place = project::Findings{tree, source::Selection{}}.follow(path);
  const bool found = place.kind == project::Place::Kind::found;
  return {.source = found ? place.entry.path : path,
          .destination = path,
          .is_directory = !found || place.is_directory()};
}

Copy of_extra(const project::Extra& extra, const std::string& destination) {
  return {.source = fmt::format("{}/{}", extras_directory, extra.name),
          .destination = destination,
          .is_directory = extra.is_directory};
}

bool is_in_place(const Copy& copy) {
  return copy.source == copy.destination && !copy.source.starts_with(extras_directory);
}

bool covers(const Copy& outer, const Copy& inner) {
  return is_in_place(outer) && is_in_place(inner) && outer.is_directory &&
         (outer.source.empty() || inner.source == outer.source ||
          inner.source.starts_with(outer.source + "/"));
}

std::vector<Copy> without_covered(const std::vector<Copy>& copies) {
  std::vector<Copy> kept;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    bool redundant = false;
    for (std::size_t j = 0; j < copies.size() && !redundant; ++j) {
      redundant = j != i && covers(copies[j], copies[i]) && (copies[j] != copies[i] || j > i);
    }
    if (!redundant) {
      kept.push_back(copies[i]);
    }
  }
  return kept;
}

/// Returns the copies of the image's code step: extras from outside, then the whole working
/// directory.
std::vector<Copy> code_copies(const project::Project& project) {
  std::vector<Copy> copies;
  for (const project::Extra& extra : project.outside_dirs) {
    copies.push_back(of_extra(extra, extra.name));
  }
  copies.emplace_back();
  return copies;
}

/// Returns the copies of the requirements stage: everything that pip reads, each at its own path.
std::vector<Copy> requirement_copies(const source::Tree& tree, const project::Project& project) {
  std::vector<Copy> copies;
  for (const std::string& path : project.requirement_inputs) {
    copies.push_back(same_place(tree, path));
  }
  for (const std::string& path : project.extra_packages) {
    copies.push_back(same_place(tree, path));
  }
  for (const project::Extra& extra : project.outside_packages) {
    Copy copy = of_extra(extra, "");
    copy.destination = copy.source;
    copies.push_back(std::move(copy));
  }
  return without_covered(copies);
}

/// Returns the lock, for the key; empty if there is none.
std::vector<Copy> lock_files(const source::Tree& tree, const project::Project& project) {
  return project.lock ? std::vector{same_place(tree, project.lock->file)} : std::vector<Copy>{};
}

/// Returns the files that describe the project's own package.
std::vector<Copy> package_files(const source::Tree& tree, const project::Package& package) {
  std::vector<Copy> copies;
  for (const std::string& path : package.files) {
    copies.push_back(same_place(tree, path));
  }
  return copies;
}

bool runs_python(const project::Entry& entry) {
  return entry.kind != project::EntryKind::shell_script &&
         entry.kind != project::EntryKind::program;
}

/// Adds the requirements of an extra of the project's own package; it may name others:
/// `trainer[all]`.
void add_extra(const project::Package& package,
               const std::string& extra,
               std::set<std::string>& seen,
               std::vector<std::string>& requirements) {
  const auto found = package.extra_requirements.find(python::normalise_name(extra));
  if (found == package.extra_requirements.end() || !seen.insert(found->first).second) {
    return;
  }
  for (const auto& requirement : found->second) {
    if (!package.is_called(requirement.parts.name)) {
      requirements.push_back(requirement.text);
      continue;
    }
    for (const std::string& other : requirement.parts.extras) {
      add_extra(package, other, seen, requirements);
    }
  }
}

void add_package(Dependencies& dependencies,
                 const source::Tree& tree,
                 const project::Package& package) {
  dependencies.install = package.installs || !package.members.empty();
  dependencies.installs_root = package.installs;
  dependencies.isolated = package.isolated;
  dependencies.needs_pyproject = package.needs_pyproject;
  dependencies.version = package.version;
  dependencies.members = package.members;
  dependencies.resolves = !package.requirements || !package.members.empty();
  dependencies.package_extras = package.extras;
  dependencies.build_environment = package.build_environment;
  dependencies.package_files = package_files(tree, package);
  if (package.requirements) {
    dependencies.package_requirements = python::texts_of(*package.requirements);
    std::set<std::string> seen;
    for (const std::string& extra : package.extras) {
      add_extra(package, extra, seen, dependencies.package_requirements);
    }
  }
  if (!package.isolated && package.installs) {
    dependencies.build_requirements = package.build_requirements;
  }
}

/// Returns everything to install for `project`: its requirements, extra packages and own package.
Dependencies project_dependencies(const source::Tree& tree, const project::Project& project) {
  Dependencies dependencies{.lock = project.lock,
                            .requirement_files = project.requirement_files,
                            .requirement_edits = project.requirement_edits,
                            .pip_options = project.pip_options,
                            .requirements = python::texts_of(project.requirements),
                            .packages = project.extra_packages,
                            .hashed = project.hashed,
                            .requirement_copies = requirement_copies(tree, project),
                            .uv = project.uv};
  for (const project::Extra& extra : project.outside_packages) {
    dependencies.packages.push_back(fmt::format("{}/{}", extras_directory, extra.name));
  }
  if (project.package) {
    add_package(dependencies, tree, *project.package);
  }
  if (dependencies.lock) {
    dependencies.resolves = false;
    dependencies.package_requirements.clear();
  }
  return dependencies;
}

/// Selects the interpreter for the program, and adds packages for apt: the interpreter and pip if
/// the executor image of `plan` lacks them, and the user's. Reports a problem if that image has no
/// apt-get.
void add_system_packages(Plan& plan, const Options& options, Problems& problems) {
  const image::BaseFacts& base = plan.base;
  Dependencies& dependencies = plan.dependencies;
  const bool needs_pip = dependencies.needs_pip();
  const bool lacks_python = !base.python && (needs_pip || runs_python(plan.entry));
  const bool lacks_pip = needs_pip && !base.pip;
  plan.python = base.python;
  if (lacks_python) {
    plan.python = "python3";
    dependencies.apt_packages.emplace_back("python3");
  }
  if (lacks_pip) {
    dependencies.apt_packages.emplace_back("python3-pip");
  }
  for (const std::string& package : options.system_packages) {
    dependencies.apt_packages.push_back(package);
  }
  if (base.apt || dependencies.apt_packages.empty()) {
    return;
  }
  std::string message =
      fmt::format("the executor image `{}` has {}no apt-get to install `{}` with", base.reference,
                  lacks_python ? "no Python, and " : "", join(dependencies.apt_packages, "`, `"));
  Problem problem{.message = std::move(message)};
  if (lacks_python || lacks_pip) {
    problem.hints.emplace_back(
        "take an executor image that has Python and pip, or one of Debian or "
        "Ubuntu, where autopack installs them");
  }
  problems.push_back(std::move(problem));
}

/// Returns a tree for an extra outside the working directory.
PlacedTree tree_of(const project::Extra& extra) {
  std::string prefix = fmt::format("{}/", extras_directory);
  if (extra.is_directory) {
    return {.tree = source::make_disk_tree(extra.path), .prefix = prefix + extra.name + "/"};
  }
  return {.tree = source::make_disk_tree(extra.path.parent_path()), .prefix = std::move(prefix)};
}

std::vector<ContextEntry> gather_outside(const std::vector<project::Extra>& extras,
                                         const ContentReader* contents,
                                         ReadablePlan& plan,
                                         Problems& problems) {
  if (extras.empty()) {
    return {};
  }
  const source::Selection defaults{source::IgnoreRules::defaults()};
  std::vector<ContextEntry> all;
  for (const project::Extra& extra : extras) {
    const auto index = static_cast<std::uint16_t>(plan.trees.size());
    plan.trees.push_back(tree_of(extra));
    if (extra.is_directory) {
      all.push_back({.path = fmt::format("{}/{}", extras_directory, extra.name),
                     .type = source::EntryType::directory,
                     .tree = index});
    }
    Gatherer gatherer{plan.trees.back(), index, defaults, contents};
    gatherer.add(extra.is_directory ? "" : extra.path.filename().string());
    auto entries = gatherer.take();
    append(problems, gatherer.problems());
    all.insert(all.end(), std::make_move_iterator(entries.begin()),
               std::make_move_iterator(entries.end()));
  }
  return all;
}

/// Returns entries of `copies` from the working directory, and those of `outside`, sorted.
std::vector<ContextEntry> gather(const std::vector<Copy>& copies,
                                 const std::optional<std::string>& entry_file,
                                 const std::vector<project::Extra>& outside,
                                 const project::Project& project,
                                 const ContentReader* contents,
                                 ReadablePlan& plan,
                                 Problems& problems) {
  Gatherer gatherer{plan.trees.front(), 0, project.ignore, contents};
  if (plan.user_dockerfile) {
    gatherer.allow_nothing();
  } else {
    gatherer.leave_large_directories();
  }
  for (const Copy& copy : copies) {
    if (!copy.source.starts_with(extras_directory)) {
      gatherer.add(copy.source);
    }
  }
  if (entry_file) {
    gatherer.add(*entry_file);
  }
  auto entries = gatherer.take();
  append(problems, gatherer.problems());
  if (!gatherer.large_directories().empty()) {
    plan.large_directories = gatherer.large_directories();
  }
  auto more = gather_outside(outside, contents, plan, problems);
  if (!more.empty()) {
    entries.insert(entries.end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
    std::ranges::sort(entries, [](const auto& a, const auto& b) { return a.path < b.path; });
  }
  return entries;
}

void plan_generated(ReadablePlan& plan,
                    const project::Project& project,
                    const Options& options,
                    Problems& problems) {
  const source::Tree& tree = plan.working_directory();
  plan.dependencies = project_dependencies(tree, project);
  if (plan.dependencies.needs_pip()) {
    plan.dependencies.install_environment = options.build_environment;
  }
  add_system_packages(plan, options, problems);
  check_python_version(plan, tree, project, problems);
  check_wheel_files(plan, project, problems);
  plan.entrypoint = entrypoint_of(plan.entry, plan.python);
  plan.copies = code_copies(project);
  plan.remove_sitecustomize = plan.base.vertex_prebuilt;
  plan.compile_bytecode = options.compile_bytecode && plan.dependencies.needs_pip();
  refuse_unfit_texts(plan, problems);
  std::vector<Copy> inputs = plan.dependencies.requirement_copies;
  inputs.insert(inputs.end(), plan.dependencies.package_files.begin(),
                plan.dependencies.package_files.end());
  for (Copy& copy : lock_files(tree, project)) {
    inputs.push_back(std::move(copy));
  }
  ContentReader reader{.hashes = options.hashes};
  const auto* const contents = options.contents ? &reader : nullptr;
  auto& read = plan.dependencies.inputs;
  read = gather(inputs, std::nullopt, project.outside_packages, project, contents, plan, problems);
  reader.known = &read;
  plan.code =
      gather(plan.copies, plan.entry.file, project.outside_dirs, project, contents, plan, problems);
  for (auto& problem : dangling_links(plan, project)) {
    const bool is_error = problem.severity == Problem::Severity::error;
    (is_error ? problems : plan.warnings).push_back(std::move(problem));
  }
  append(plan.warnings, weight_advice(plan));
  append(plan.warnings, unfetched_files(plan));
}

std::string own_dockerfile(const source::Tree& tree, const project::Request& request) {
  const auto& file = request.dockerfile.value();
  const auto inside = project::path_in_tree(request, file.string());
  return inside && tree.find(*inside) ? tree.read(*inside) : read_file(file);
}

/// Returns its path in the tree, if it is in it.
std::optional<std::string> name_of_dockerfile(const project::Request& request) {
  if (!request.dockerfile) {
    return std::nullopt;
  }
  const std::string name = request.dockerfile->string();
  return project::path_in_tree(request, name).value_or(name);
}

std::string own_templates(const Options& options) {
  std::string text;
  if (options.templates) {
    for (const auto& [name, content] : load_templates(options.templates)) {
      text += content;
    }
  }
  return text;
}

}  // namespace

ReadablePlan make_plan(std::shared_ptr<const source::Tree> tree,
                       const project::Project& project,
                       const project::Request& request,
                       const image::BaseFacts& base,
                       const Options& options) {
  ReadablePlan plan{{.base = base,
                     .entry = project.entry,
                     .notebook = project.notebook,
                     .platform = options.platform,
                     .user = base.user,
                     .user_dockerfile = name_of_dockerfile(request),
                     .ignore_text = project.ignore.text(),
                     .labels = options.labels,
                     .warnings = project.warnings},
                    {{.tree = std::move(tree)}}};
  Problems problems;
  if (!plan.user_dockerfile) {
    plan_generated(plan, project, options, problems);
  } else {
    plan.dockerfile = own_dockerfile(plan.working_directory(), request);
    plan.copies = {{}};
    const ContentReader reader{.hashes = options.hashes};
    plan.code = gather(plan.copies, std::nullopt, {}, project, options.contents ? &reader : nullptr,
                       plan, problems);
  }
  // Reports a finding once, though both stages may read the file.
  Problems once;
  for (Problem& problem : problems) {
    const auto same = [&](const Problem& other) { return other.message == problem.message; };
    if (std::ranges::none_of(once, same)) {
      once.push_back(std::move(problem));
    }
  }
  if (has_errors(once)) {
    once.insert(once.begin(), plan.warnings.begin(), plan.warnings.end());
    throw Error(ErrorKind::project, std::move(once));
  }
  if (!plan.user_dockerfile) {
    plan.dockerfile = render_dockerfile(plan, {}, options);
  }
  if (options.contents) {
    plan.keys = keys_of(plan, project, own_templates(options));
  }
  return plan;
}

std::vector<const ContextEntry*> context(const Plan& plan) {
  std::vector<const ContextEntry*> entries;
  for (const auto* part : {&plan.dependencies.inputs, &plan.code}) {
    for (const ContextEntry& entry : *part) {
      entries.push_back(&entry);
    }
  }
  std::inplace_merge(entries.begin(),
                     entries.begin() + static_cast<std::ptrdiff_t>(plan.dependencies.inputs.size()),
                     entries.end(), [](const auto* a, const auto* b) { return a->path < b->path; });
  entries.erase(std::unique(entries.begin(), entries.end(),
                            [](const auto* a, const auto* b) { return a->path == b->path; }),
                entries.end());
  return entries;
}

}  // namespace autopack::plan
