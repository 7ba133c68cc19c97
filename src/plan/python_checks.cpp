#include "plan/python_checks.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "project/requirements/named_pythons.hpp"
#include "python/requirement.hpp"
#include "python/tags.hpp"
#include "python/wheel_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::plan {

namespace {

using python::Requirement;
using python::Version;

/// Newer than any libc: the image's version is unknown here.
constexpr int newest_libc{120};

/// Returns the machine names of a platform; empty for an unknown one.
std::vector<std::string> machines_of(const std::string& platform) {
  if (platform == "linux/amd64") {
    return {"x86_64", "i686"};
  }
  return platform.starts_with("linux/arm64") ? std::vector<std::string>{"aarch64", "armv7l"}
                                             : std::vector<std::string>{};
}

/// Checks names of wheels against the certain facts of an executor image: its version of Python and
/// its platform.
class Judge {
public:
  Judge(const python::Version& version, const std::vector<std::string>& machines) {
    using Kind = python::Libc::Kind;
    for (const auto& machine : machines) {
      for (const char* const flags : {"", "t", "d", "td", "m", "dm"}) {
        for (const auto& libc :
             {python::Libc{.kind = Kind::glibc, .major = 2, .minor = newest_libc},
              python::Libc{.kind = Kind::musl, .major = 1, .minor = newest_libc}}) {
          accepted_.emplace_back(python::Interpreter{
              .version = version, .abi_flags = flags, .machine = machine, .libc = libc});
        }
      }
    }
  }

  /// Returns false only if no Python of that version on that platform accepts it.
  bool may_fit(const python::WheelName& wheel) const {
    const bool is_of_others = std::ranges::any_of(wheel.interpreters, [](const std::string& tag) {
      return !tag.starts_with("cp") && !tag.starts_with("py");
    });
    return is_of_others || std::ranges::any_of(accepted_, [&](const auto& tags) {
             return tags.rank(wheel).has_value();
           });
  }

private:
  std::vector<python::AcceptedTags> accepted_{};
};

/// Returns the name of the file in a path or a URL.
std::string file_of(std::string_view target, bool is_url) {
  if (is_url) {
    target = target.substr(0, target.find_first_of("?#"));
  }
  const auto name = target.substr(target.rfind('/') + 1);
  return is_url ? percent_decode(name) : std::string{name};
}

struct NamedWheel {
  std::string file{};
  std::string origin{};
};

std::vector<NamedWheel> named_wheels(const project::Project& project) {
  std::vector<NamedWheel> wheels;
  const auto add = [&](const std::string& target, bool is_url, const std::string& origin) {
    if (auto file = file_of(target, is_url); file.ends_with(".whl")) {
      wheels.push_back({.file = std::move(file), .origin = origin});
    }
  };
  for (const auto& listed : project.listed_requirements) {
    const auto& requirement = listed.requirement;
    const bool is_url = requirement.kind == Requirement::Kind::url;
    if ((is_url || requirement.kind == Requirement::Kind::path) && !requirement.marker &&
        !listed.constraint) {
      add(requirement.target, is_url, listed.origin);
    }
  }
  for (const auto& path : project.extra_packages) {
    add(path, false, "`--extra-packages`");
  }
  return wheels;
}

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

void check_wheel_files(const Plan& plan, const project::Project& project, Problems& problems) {
  const auto wheels = named_wheels(project);
  const auto version = python::Version::parse(plan.base.python_version.value_or(""));
  const auto machines = machines_of(plan.platform);
  if (wheels.empty() || !version || version->release.size() < 2 || machines.empty()) {
    return;
  }
  const Judge judge{*version, machines};
  for (const auto& [file, origin] : wheels) {
    const auto name = python::WheelName::parse(file);
    if (!name || judge.may_fit(*name)) {
      continue;
    }
    problems.push_back(
        {.message = fmt::format(
             "`{}` is not for Python {} on {}, which the executor image `{}` has", printable(file),
             *plan.base.python_version, plan.platform, printable(plan.base.reference)),
         .origin = origin,
         .hints = {"name a wheel for that Python and platform, or take an executor image that fits "
                   "the wheel"}});
  }
}

}  // namespace autopack::plan
