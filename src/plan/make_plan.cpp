#include "base/file.hpp"
#include "base/text.hpp"
#include "image/file_reference.hpp"
#include "plan/ballast.hpp"
#include "plan/copies.hpp"
#include "plan/dependencies.hpp"
#include "plan/entrypoint.hpp"
#include "plan/gather.hpp"
#include "plan/keys.hpp"
#include "plan/links.hpp"
#include "plan/plan.hpp"
#include "plan/pointers.hpp"
#include "plan/python_version.hpp"
#include "plan/templates.hpp"
#include "plan/wheel_files.hpp"
#include "plan/words.hpp"
#include "project/findings.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace autopack::plan {

namespace {

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
    gatherer.leave_ballast();
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
  if (!gatherer.ballast().empty()) {
    plan.ballast = gatherer.ballast();
  }
  auto more = gather_outside(outside, contents, plan, problems);
  if (!more.empty()) {
    entries.insert(entries.end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
    std::ranges::sort(entries, [](const auto& a, const auto& b) { return a.path < b.path; });
  }
  return entries;
}

/// Returns all texts in the Dockerfile's lines.
std::vector<std::string> texts_of(const Plan& plan) {
  const Dependencies& dependencies = plan.dependencies;
  std::vector<std::string> texts{plan.base.reference, plan.user};
  const auto add = [&](const std::vector<std::string>& more) {
    texts.insert(texts.end(), more.begin(), more.end());
  };
  add(plan.entrypoint);
  add(dependencies.apt_packages);
  if (dependencies.lock) {
    texts.push_back(dependencies.lock->file);
  }
  add(dependencies.requirement_files);
  add(dependencies.pip_options);
  add(dependencies.requirements);
  add(dependencies.packages);
  add(dependencies.package_requirements);
  add(dependencies.build_requirements);
  add(dependencies.package_extras);
  add(dependencies.members);
  for (const auto* copies :
       {&dependencies.requirement_copies, &dependencies.package_files, &plan.copies}) {
    for (const Copy& copy : *copies) {
      texts.push_back(copy.source);
    }
  }
  for (const project::LineEdit& edit : dependencies.requirement_edits) {
    texts.push_back(edit.text);
  }
  if (dependencies.version) {
    texts.push_back(*dependencies.version);
  }
  for (const auto* variables :
       {&dependencies.build_environment, &dependencies.install_environment}) {
    for (const auto& [name, value] : *variables) {
      texts.push_back(value);
    }
  }
  return texts;
}

void refuse_unfit_texts(const Plan& plan, Problems& problems) {
  std::vector<std::string> texts = texts_of(plan);
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  for (const std::string& text : texts) {
    if (!fits_dockerfile(text)) {
      problems.push_back({.message = fmt::format("`{}` cannot stand in a Dockerfile: it holds a "
                                                 "control character or is not UTF-8",
                                                 printable(text))});
    }
  }
  for (const auto* requirements :
       {&plan.dependencies.requirements, &plan.dependencies.package_requirements,
        &plan.dependencies.build_requirements}) {
    for (const std::string& requirement : *requirements) {
      if (requirement.starts_with('-')) {
        problems.push_back(
            {.message = fmt::format("`{}` is an option of pip, not a requirement", requirement)});
      }
    }
  }
  if (const auto fault = image::base_fault(plan.base.reference)) {
    problems.push_back({.message = fmt::format("`{}` is no image name: {}",
                                               printable(plan.base.reference), *fault)});
  }
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
