#include "plan/links.hpp"

#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "plan/import_walk.hpp"
#include "project/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace autopack::plan {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_links_reported{5};

/// Places that exist when the program runs, though not in the image: buckets, network drives,
/// devices.
constexpr std::array<std::string_view, 6> places_of_a_job{"/dev/",  "/gcs/", "/mnt/nfs/",
                                                          "/proc/", "/sys/", "/usr/app/"};

bool is_in_image(const Plan& plan, const std::string& path) {
  const auto at =
      std::lower_bound(plan.code.begin(), plan.code.end(), path,
                       [](const ContextEntry& a, const std::string& b) { return a.path < b; });
  return path.empty() || (at != plan.code.end() && at->path == path);
}

/// A link of the image whose target is missing in it.
struct DeadLink {
  const ContextEntry* entry{nullptr};
  std::string where{};  ///< "which is outside the working directory"
  std::string group{};  ///< the directory that its target is in
  std::optional<std::string> origin{};
  std::vector<std::string> hints{};
  bool is_sibling{false};  ///< relative, to a path beside the project
};

std::string directory_of_target(const ContextEntry& entry) {
  const fs::path target{entry.link_target};
  const fs::path whole =
      target.is_absolute() ? target : fs::path{"./" + entry.path}.parent_path() / target;
  return whole.lexically_normal().parent_path().string();
}

/// Returns the target relative to the link, if it is an absolute link to a place inside the
/// project.
std::optional<std::string> relative_target(const PlacedTree& place, const ContextEntry& entry) {
  const fs::path target{entry.link_target};
  std::error_code failure;
  const auto root = fs::canonical(place.tree->describe(), failure);
  if (failure || !target.is_absolute()) {
    return std::nullopt;
  }
  const auto inside = fs::weakly_canonical(target, failure).lexically_relative(root);
  if (failure || inside.empty() || *inside.begin() == "..") {
    return std::nullopt;
  }
  const auto from = fs::path{place.path_of(entry)}.parent_path();
  return inside.lexically_relative(from.empty() ? fs::path{"."} : from).string();
}

void describe_left_out(const source::Selection& selection,
                       const project::Place& there,
                       const std::string& path,
                       DeadLink& link) {
  const auto rule = link.entry->tree == 0 ? selection.excludes(path) : std::nullopt;
  link.group = path;
  if (!rule) {
    link.where = "which is not in the image";
    link.hints.push_back(fmt::format("`{}` includes it", source::include_flag(path)));
    return;
  }
  const bool is_directory =
      there.entry.type == source::EntryType::directory && path == there.entry.path;
  link.where = fmt::format("which the rule `{}` leaves out", printable(rule->pattern));
  link.origin = rule->line == 0 ? rule->file : fmt::format("{}:{}", rule->file, rule->line);
  link.hints.push_back(source::bring_back_command(path, is_directory, *rule));
}

/// Returns why the target of the link `entry` is missing in the image; nothing if it exists.
std::optional<DeadLink> dead_link(const ReadablePlan& plan,
                                  const source::Selection& selection,
                                  const ContextEntry& entry) {
  const bool is_of_job = std::ranges::any_of(
      places_of_a_job, [&](auto place) { return entry.link_target.starts_with(place); });
  if (is_of_job) {
    return std::nullopt;
  }
  const PlacedTree& place = plan.trees[entry.tree];
  const std::string path{place.path_of(entry)};
  const auto there = project::Findings{*place.tree, source::Selection{}}.follow(path);
  DeadLink link{.entry = &entry, .group = directory_of_target(entry)};
  if (const auto relative = relative_target(place, entry)) {
    link.where = "an absolute path, which the image does not have";
    link.hints = {fmt::format("ln -sfn {} {}", shell_quote(*relative), shell_quote(path))};
    return link;
  }
  if (there.kind == project::Place::Kind::leaves) {
    link.is_sibling = !entry.link_target.starts_with('/') && entry.tree == 0;
    link.where = "which is outside " +
                 (entry.tree == 0 ? std::string{"the working directory"}
                                  : fmt::format("`{}`", printable(place.tree->describe())));
    link.hints = {source::leave_out_command(path)};
    return link;
  }
  if (there.kind == project::Place::Kind::missing) {
    link.where = "which does not exist";
    link.hints = {source::leave_out_command(path)};
    return link;
  }
  std::vector<std::string> needed = there.links;
  needed.push_back(there.entry.path);
  for (const auto& one : needed) {
    if (!is_in_image(plan, one.empty() ? one : place.prefix + one)) {
      describe_left_out(selection, there, one, link);
      return link;
    }
  }
  return std::nullopt;
}

/// Returns the command line that uses a directory above the project as the project, so that `link`
/// stays inside; nothing if the link leads elsewhere.
std::optional<std::string> from_above(const ReadablePlan& plan, const DeadLink& link) {
  if (!link.is_sibling || plan.entry.kind != project::EntryKind::python_script) {
    return std::nullopt;
  }
  std::error_code failure;
  auto above = fs::canonical(plan.working_directory().describe(), failure);
  fs::path script{plan.entry.value};
  std::string up;
  const fs::path target =
      (fs::path{link.entry->path}.parent_path() / link.entry->link_target).lexically_normal();
  for (auto part = target.begin(); part != target.end() && *part == ".."; ++part) {
    script = above.filename() / script;
    above = above.parent_path();
    up += up.empty() ? ".." : "/..";
  }
  return failure || up.empty() || !above.has_relative_path()
             ? std::nullopt
             : std::optional{fmt::format("`-C {} --script={}` has it inside the project", up,
                                         shell_quote(script.string()))};
}

/// Returns the surely imported modules that no file of the image provides, by the first part of
/// their name.
std::map<std::string, OpenImport> needed_modules(const ReadablePlan& plan,
                                                 const project::Project& project) {
  std::map<std::string, OpenImport> modules;
  for (auto& open : walk_imports(plan, project).open) {
    if (open.certain) {
      modules.emplace(open.module.substr(0, open.module.find('.')), std::move(open));
    }
  }
  return modules;
}

/// Returns the module that Python looks for under the name of the link; nothing if there is none.
const OpenImport* import_through(const ContextEntry& entry,
                                 const std::map<std::string, OpenImport>& modules) {
  auto name = base_name(entry.path);
  name.resize(name.size() - (name.ends_with(".py") ? 3 : 0));
  const auto found = modules.find(name);
  const auto directory = parent_path(entry.path);
  const bool is_beside =
      found != modules.end() && (directory.empty() || directory == parent_path(found->second.path));
  return is_beside ? &found->second : nullptr;
}

Problem problem_of(const ReadablePlan& plan, const DeadLink& link) {
  Problem problem{
      .severity = Problem::Severity::warning,
      .message = fmt::format("`{}` is a symbolic link to `{}`, {}", printable(link.entry->path),
                             printable(link.entry->link_target), link.where),
      .origin = link.origin,
      .hints = link.hints};
  if (const auto hint = from_above(plan, link)) {
    problem.hints.insert(problem.hints.begin(), *hint);
  }
  return problem;
}

}  // namespace

Problems dangling_links(const ReadablePlan& plan, const project::Project& project) {
  std::vector<DeadLink> dead;
  for (const ContextEntry& entry : plan.code) {
    if (entry.type == source::EntryType::symlink) {
      if (auto link = dead_link(plan, project.ignore, entry)) {
        dead.push_back(std::move(*link));
      }
    }
  }
  Problems problems;
  if (dead.empty()) {
    return problems;
  }
  const auto modules = needed_modules(plan, project);
  std::map<std::string, std::pair<const DeadLink*, std::size_t>> groups;
  for (const auto& link : dead) {
    if (const auto* const import = import_through(*link.entry, modules)) {
      auto problem = problem_of(plan, link);
      problem.severity = Problem::Severity::error;
      problem.message += fmt::format("; `{}` line {} imports `{}`", printable(import->path),
                                     import->line, printable(import->module));
      problems.push_back(std::move(problem));
    } else {
      ++groups.try_emplace(link.group, &link, 0).first->second.second;
    }
  }
  std::size_t reported = 0;
  std::size_t more = 0;
  for (const auto& [directory, group] : groups) {
    const auto& [link, count] = group;
    if (reported++ >= most_links_reported) {
      more += count;
      continue;
    }
    auto problem = problem_of(plan, *link);
    if (count > 1) {
      problem.message +=
          fmt::format("; {} more {} into `{}`", count - 1, count == 2 ? "link leads" : "links lead",
                      printable(directory));
    }
    problems.push_back(std::move(problem));
  }
  if (more > 0) {
    problems.push_back(Problem::warning(
        {.message = fmt::format("{} more symbolic link{} lead{} nowhere in the image", more,
                                more == 1 ? "" : "s", more == 1 ? "s" : "")}));
  }
  return problems;
}

}  // namespace autopack::plan
