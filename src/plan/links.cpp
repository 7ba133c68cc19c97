#include "plan/links.hpp"

#include "base/text.hpp"
#include "project/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::plan {

namespace {

constexpr std::size_t most_links_told{5};

/// What is there when the program runs, though not in the image: buckets, network drives, devices.
constexpr std::array<std::string_view, 6> places_of_a_job{"/dev/",  "/gcs/", "/mnt/nfs/",
                                                          "/proc/", "/sys/", "/usr/app/"};

bool is_in_image(const Plan& plan, const std::string& path) {
  const auto at =
      std::lower_bound(plan.code.begin(), plan.code.end(), path,
                       [](const ContextEntry& a, const std::string& b) { return a.path < b; });
  return path.empty() || (at != plan.code.end() && at->path == path);
}

/// Why `entry`, a link, leads nowhere in the image; none when it leads somewhere.
std::optional<Problem> fault(const ReadablePlan& plan,
                             const source::Selection& selection,
                             const ContextEntry& entry) {
  const bool is_of_job =
      std::any_of(places_of_a_job.begin(), places_of_a_job.end(),
                  [&](auto place) { return entry.link_target.starts_with(place); });
  if (is_of_job) {
    return std::nullopt;
  }
  const PlacedTree& place = plan.trees[entry.tree];
  const std::string path{place.path_of(entry)};
  const auto there = project::Findings{*place.tree, source::Selection{}}.follow(path);
  Problem problem{.message = fmt::format("`{}` is a symbolic link to `{}`, ", printable(entry.path),
                                         printable(entry.link_target)),
                  .hints = {source::leave_out_command(path)}};
  if (there.kind == project::Place::Kind::leaves) {
    problem.message += "which is outside " +
                       (entry.tree == 0 ? std::string{"the working directory"}
                                        : fmt::format("`{}`", printable(place.tree->describe())));
    return problem;
  }
  if (there.kind == project::Place::Kind::missing) {
    problem.message += "which does not exist";
    return problem;
  }
  std::vector<std::string> needed = there.links;
  needed.push_back(there.entry.path);
  for (const auto& one : needed) {
    if (is_in_image(plan, one.empty() ? one : place.prefix + one)) {
      continue;
    }
    const auto rule = entry.tree == 0 ? selection.excludes(one) : std::nullopt;
    problem.message += rule
                           ? fmt::format("which the rule `{}` leaves out", printable(rule->pattern))
                           : "which is not in the image";
    if (rule) {
      problem.origin = rule->line == 0 ? rule->file : fmt::format("{}:{}", rule->file, rule->line);
      problem.hints.push_back(source::bring_back_command(
          one, there.entry.type == source::EntryType::directory && one == there.entry.path, *rule));
    } else {
      problem.hints.push_back(fmt::format("`{}` takes it in", source::include_flag(one)));
    }
    return problem;
  }
  return std::nullopt;
}

}  // namespace

Problems dangling_links(const ReadablePlan& plan, const source::Selection& selection) {
  Problems problems;
  std::size_t more = 0;
  for (const ContextEntry& entry : plan.code) {
    if (entry.type != source::EntryType::symlink) {
      continue;
    }
    auto problem = fault(plan, selection, entry);
    if (problem && problems.size() < most_links_told) {
      problems.push_back(std::move(*problem));
    } else if (problem) {
      ++more;
    }
  }
  if (more > 0) {
    problems.push_back({.message = fmt::format("{} more symbolic link{} would lead nowhere", more,
                                               more == 1 ? "" : "s")});
  }
  return problems;
}

}  // namespace autopack::plan
