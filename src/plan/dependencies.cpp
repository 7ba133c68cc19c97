#include "plan/dependencies.hpp"

#include "base/text.hpp"
#include "plan/copies.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <set>

namespace autopack::plan {

namespace {

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
  for (const std::string& text : found->second) {
    const auto parsed = python::parse_requirement(text);
    if (!package.is_called(parsed.name)) {
      requirements.push_back(text);
      continue;
    }
    for (const std::string& other : parsed.extras) {
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
    dependencies.package_requirements = *package.requirements;
    std::set<std::string> seen;
    for (const std::string& extra : package.extras) {
      add_extra(package, extra, seen, dependencies.package_requirements);
    }
  }
  if (!package.isolated && package.installs) {
    dependencies.build_requirements = package.build_requirements;
  }
}

}  // namespace

Dependencies project_dependencies(const source::Tree& tree, const project::Project& project) {
  Dependencies dependencies{.lock = project.lock,
                            .requirement_files = project.requirement_files,
                            .requirement_edits = project.requirement_edits,
                            .pip_options = project.pip_options,
                            .requirements = project.requirements,
                            .packages = project.extra_packages,
                            .hashed = project.hashed,
                            .requirement_copies = requirement_copies(tree, project)};
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
  std::string message = fmt::format("the executor image `{}` has no apt-get to install `{}` with",
                                    base.reference, join(dependencies.apt_packages, "`, `"));
  Problem problem{.message = std::move(message)};
  if (lacks_python || lacks_pip) {
    problem.hints.emplace_back(
        "take an executor image that has Python and pip, or one of Debian or "
        "Ubuntu, where autopack installs them");
  }
  problems.push_back(std::move(problem));
}

}  // namespace autopack::plan
