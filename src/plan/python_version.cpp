#include "plan/python_version.hpp"

#include "base/text.hpp"
#include "project/requirements/named_pythons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::plan {

namespace {

using python::Version;

/// `3.11` means any of its releases: both `>=3.11.4` and `<=3.11.2` may be satisfied.
bool may_allow(const project::RequiresPython& required, const Version& version) {
  if (version.release.size() != 2) {
    return required.allows(version);
  }
  // Tests the neighbours of every patch release in a condition.
  std::vector<std::uint64_t> patches{0, 99};
  for (const auto& set : required.alternatives) {
    for (const auto& condition : set.all()) {
      const auto& numbers = condition.version.release;
      if (numbers.size() > 2) {
        patches.insert(patches.end(), {numbers[2], numbers[2] + 1, numbers[2] - (numbers[2] > 0)});
      }
    }
  }
  return std::ranges::any_of(patches, [&](std::uint64_t patch) {
    Version one = version;
    one.release.push_back(patch);
    return required.allows(one);
  });
}

/// Versions in files other than the package's metadata are wishes of the developers.
void warn_of_named_version(Plan& plan, const source::Tree& tree, const Version& version) {
  for (const auto& named : project::read_named_pythons({tree, source::Selection{}})) {
    if (!may_allow(named, version)) {
      plan.warnings.push_back(Problem::warning(
          {.message = fmt::format("`{}` names Python `{}`, but the executor image `{}` has {}",
                                  printable(named.origin), printable(named.text),
                                  printable(plan.base.reference), *plan.base.python_version),
           .hints = {"take an executor image with that Python"}}));
    }
  }
}

}  // namespace

void check_python_version(Plan& plan,
                          const source::Tree& tree,
                          const project::Project& project,
                          Problems& problems) {
  const auto version = Version::parse(plan.base.python_version.value_or(""));
  if (!version) {
    return;
  }
  if (!project.requires_python || may_allow(*project.requires_python, *version)) {
    warn_of_named_version(plan, tree, *version);
  }
  for (const auto* const required : {&project.requires_python, &project.script_python}) {
    if (!*required || may_allow(**required, *version)) {
      continue;
    }
    const bool is_script = required == &project.script_python;
    Problem problem{.message = fmt::format(
                        "{} requires Python `{}`, but the executor image `{}` has {}",
                        is_script ? "the program" : "the project", printable((*required)->text),
                        printable(plan.base.reference), *plan.base.python_version),
                    .origin = (*required)->origin,
                    .hints = {"take an executor image with a Python that fits"}};
    if (is_script || !plan.dependencies.install) {
      problem.severity = Problem::Severity::warning;
      plan.warnings.push_back(std::move(problem));
    } else {
      problems.push_back(std::move(problem));
    }
  }
}

}  // namespace autopack::plan
