#include "base/contains.hpp"
#include "base/tree_path.hpp"
#include "plan/import_walk.hpp"
#include "project/findings.hpp"

#include <algorithm>

namespace autopack::plan {

namespace {

/// Returns the files that Python starts: the entry's, or those of a shell script.
std::vector<Start> starts_of(const Plan& plan, const project::Project& project) {
  if (plan.user_dockerfile) {
    return {};
  }
  std::vector<Start> starts;
  for (const auto& started : project.started) {
    if (started.kind == project::EntryKind::shell_script) {
      continue;
    }
    starts.push_back({.file = started.file.value_or(""),
                      .root = started.root,
                      .is_script = started.kind == project::EntryKind::python_script,
                      .origin = started.origin,
                      .is_sure = started.origin == "command"});
  }
  if (plan.entry.file && plan.entry.kind != project::EntryKind::shell_script) {
    const bool is_script = plan.entry.kind == project::EntryKind::python_script;
    starts.push_back({.file = *plan.entry.file,
                      .root = is_script ? parent_path(*plan.entry.file) : std::string{},
                      .is_script = is_script,
                      .is_sure = true});
  }
  return starts;
}

/// Merges `more` into `all` without duplicates; a module that one of them needs is certain.
void add_findings(ImportFindings& all, ImportFindings more) {
  for (auto& file : more.reached) {
    const auto same = std::ranges::find_if(
        all.reached, [&](const auto& other) { return other.path == file.path; });
    if (same == all.reached.end()) {
      all.reached.push_back(std::move(file));
    } else {
      same->sure = same->sure || file.sure;
    }
  }
  for (auto& problem : more.problems) {
    const auto same = [&](const Problem& other) { return other.message == problem.message; };
    if (std::ranges::none_of(all.problems, same)) {
      all.problems.push_back(std::move(problem));
    }
  }
  for (auto& program : more.programs) {
    if (!contains(all.programs, program)) {
      all.programs.push_back(std::move(program));
    }
  }
  all.files.insert(all.files.end(), more.files.begin(), more.files.end());
  for (auto& import : more.open) {
    const auto same = std::ranges::find_if(
        all.open, [&](const auto& other) { return other.module == import.module; });
    if (same == all.open.end()) {
      all.open.push_back(std::move(import));
    } else if ((import.certain && !same->certain) || (import.sure && !same->sure)) {
      *same = std::move(import);
    }
  }
}

}  // namespace

ImportFindings walk_imports(const ReadablePlan& plan, const project::Project& project) {
  ImportFindings all;
  for (auto& start : starts_of(plan, project)) {
    add_findings(all, ImportWalk{plan, project, std::move(start)}.run());
  }
  std::stable_partition(all.open.begin(), all.open.end(),
                        [](const OpenImport& import) { return import.certain; });
  return all;
}

}  // namespace autopack::plan
