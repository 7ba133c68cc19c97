#include "project/requirements/requirement_checks.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "python/requirement.hpp"
#include "python/specifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

namespace autopack::project {

namespace {

using Kind = python::Requirement::Kind;
using Listed = std::vector<const ListedRequirement*>;
using python::Prereleases;
using python::Specifier;
using python::SpecifierSet;

constexpr std::size_t most_named{5};

std::string shown(const ListedRequirement& listed) {
  return "`" + printable(normalised(listed.requirement)) + "`";
}

/// The versions that `set` names with `==`.
std::vector<python::Version> pins_of(const SpecifierSet& set) {
  std::vector<python::Version> pins;
  for (const auto& one : set.all()) {
    if (one.op == Specifier::Operator::equal && !one.any_below) {
      pins.push_back(one.version);
    }
  }
  return pins;
}

bool holds(const SpecifierSet& set, const std::vector<python::Version>& versions) {
  return std::ranges::all_of(
      versions, [&](const auto& version) { return set.contains(version, Prereleases::allowed); });
}

/// True if one of the sets pins a version, and no version fits both. `==2.0` and `==2.0+cpu` fit.
bool contradict(const SpecifierSet& one, const SpecifierSet& other) {
  const auto pins = pins_of(one);
  const auto others = pins_of(other);
  const bool is_pinned = !pins.empty() || !others.empty();
  const bool fits =
      (!pins.empty() && holds(other, pins)) || (!others.empty() && holds(one, others));
  return is_pinned && !fits;
}

/// A requirement whose versions are known, and that pip reads whatever the interpreter is.
struct Conditions {
  const ListedRequirement* listed{nullptr};
  SpecifierSet set{};
};

std::map<std::string, std::vector<Conditions>> conditions_by_name(
    const std::vector<ListedRequirement>& requirements) {
  std::map<std::string, std::vector<Conditions>> named;
  for (const auto& listed : requirements) {
    const auto& requirement = listed.requirement;
    if (requirement.kind != Kind::named || !requirement.name || requirement.marker ||
        requirement.rest.find("===") != std::string::npos) {
      continue;
    }
    if (auto set = SpecifierSet::parse(requirement.rest)) {
      named[*requirement.name].push_back({.listed = &listed, .set = std::move(*set)});
    }
  }
  return named;
}

/// The requirements of one call of pip: those of flags too, which have a call of their own where
/// others have hashes.
std::vector<ListedRequirement> asked_together(const Project& project) {
  auto all = project.listed_requirements;
  if (!project.hashed && !project.lock) {
    for (const auto& asked : project.requirements) {
      all.push_back({.requirement = asked.parts, .origin = asked.origin});
    }
  }
  return all;
}

void check_pins(Findings& findings, const Project& project) {
  const auto all = asked_together(project);
  for (const auto& [name, conditions] : conditions_by_name(all)) {
    for (auto later = conditions.begin(); later != conditions.end(); ++later) {
      const auto earlier = std::find_if(conditions.begin(), later, [&](const Conditions& one) {
        const bool is_asked = !one.listed->constraint || !later->listed->constraint;
        return is_asked && contradict(one.set, later->set);
      });
      if (earlier != later) {
        findings.error(fmt::format("{} contradicts {} ({}): pip installs one version of a package",
                                   shown(*later->listed), shown(*earlier->listed),
                                   printable(project.origin_of(earlier->listed->origin))),
                       later->listed->origin, {"remove or change one of the two"});
      }
    }
  }
}

bool is_repository(const std::string& url) {
  static constexpr std::array<std::string_view, 4> schemes{"git+", "hg+", "svn+", "bzr+"};
  return std::ranges::any_of(schemes, [&](const auto& scheme) { return url.starts_with(scheme); });
}

/// True if the URL names the hash of its file: `...#sha256=...`.
bool names_hash(const std::string& url) {
  static constexpr std::array<std::string_view, 6> algorithms{
      "sha1=", "sha224=", "sha256=", "sha384=", "sha512=", "md5="};
  const auto mark = std::min(url.find('#'), url.size());
  return std::ranges::any_of(algorithms, [&](const auto& algorithm) {
    return url.find(algorithm, mark) != std::string::npos;
  });
}

bool has_variables(const python::Requirement& requirement) {
  return !variables_of(requirement.target).empty() || !variables_of(requirement.rest).empty();
}

/// True for what pip reads whatever the interpreter is, and what it wants a hash for.
bool wants_hash(const ListedRequirement& listed) {
  const auto& requirement = listed.requirement;
  return !listed.constraint && listed.hashes.empty() && !requirement.marker &&
         !has_variables(requirement);
}

/// Where the first hash is, in words.
std::string reason_for_hashes(const Project& project) {
  for (const auto& listed : project.listed_requirements) {
    if (!listed.hashes.empty()) {
      return fmt::format("{} has a hash", printable(listed.origin));
    }
  }
  for (const auto& option : project.listed_options) {
    if (option.name == "--require-hashes") {
      return fmt::format("{} has `--require-hashes`", printable(option.origin));
    }
  }
  return "another requirement has one";
}

std::string list_of(const Listed& requirements) {
  std::vector<std::string> parts;
  for (const auto* const listed : requirements) {
    if (parts.size() == most_named) {
      parts.push_back(fmt::format("{} more", requirements.size() - most_named));
      break;
    }
    parts.push_back(fmt::format("{} ({})", shown(*listed), printable(listed->origin)));
  }
  return join(parts, ", ");
}

Place place_of(const Findings& findings, const python::Requirement& requirement) {
  const auto path =
      requirement.kind == Kind::path ? source::normalise(requirement.target) : std::nullopt;
  return path ? findings.follow(*path) : Place{};
}

/// What has no place for a hash: directories and repositories.
void check_unhashable(Findings& findings, const Project& project) {
  for (const auto& listed : project.listed_requirements) {
    const auto& requirement = listed.requirement;
    const bool is_directory = place_of(findings, requirement).is_directory();
    if (!wants_hash(listed) || !(is_directory || is_repository(requirement.target))) {
      continue;
    }
    findings.error(
        fmt::format("pip refuses {}, because {}: a {} cannot have one", shown(listed),
                    reason_for_hashes(project), is_directory ? "directory" : "repository"),
        listed.origin,
        {is_directory ? fmt::format("remove the line; `--extra-packages={}` installs it",
                                    shell_quote(printable(requirement.target)))
                      : "remove the line; `--requirements` installs it apart from those with "
                        "hashes"});
  }
}

/// Files without a hash, which pip reads again whatever is installed.
void check_files(Findings& findings, const Project& project) {
  Listed files;
  for (const auto& listed : project.listed_requirements) {
    const auto& requirement = listed.requirement;
    const bool is_file = place_of(findings, requirement).is_file();
    const bool is_url = requirement.kind == Kind::url && !is_repository(requirement.target) &&
                        !names_hash(requirement.target);
    if (wants_hash(listed) && (is_file || is_url)) {
      files.push_back(&listed);
    }
  }
  if (!files.empty()) {
    const auto problem = missing_hashes(project, files);
    findings.error(problem.message, problem.origin.value_or(""), problem.hints);
  }
}

}  // namespace

Listed requirements_without_hash(const Project& project) {
  Listed found;
  if (!project.hashed) {
    return found;
  }
  for (const auto& listed : project.listed_requirements) {
    const auto& requirement = listed.requirement;
    const bool is_hashed_elsewhere =
        std::ranges::any_of(project.listed_requirements, [&](const auto& other) {
          return other.requirement.name == requirement.name && !other.hashes.empty();
        });
    if (requirement.kind == Kind::named && wants_hash(listed) && !is_hashed_elsewhere) {
      found.push_back(&listed);
    }
  }
  return found;
}

Problem missing_hashes(const Project& project, const Listed& requirements) {
  return {.message = fmt::format("pip refuses what has no hash, because {}: {}",
                                 reason_for_hashes(project), list_of(requirements)),
          .origin = requirements.front()->origin,
          .hints = {"`pip-compile --generate-hashes` and `uv pip compile --generate-hashes` write "
                    "the hashes of all requirements"}};
}

const ListedRequirement* contradicted_requirement(const Project& project,
                                                  const python::Requirement& requirement) {
  const auto wanted = python::SpecifierSet::parse(requirement.rest);
  if (!requirement.name || !wanted || requirement.marker) {
    return nullptr;
  }
  const auto named = conditions_by_name(project.listed_requirements);
  const auto found = named.find(*requirement.name);
  if (found == named.end()) {
    return nullptr;
  }
  const auto other = std::ranges::find_if(
      found->second, [&](const Conditions& one) { return contradict(one.set, *wanted); });
  return other == found->second.end() ? nullptr : other->listed;
}

void check_listed_requirements(Findings& findings, const Project& project) {
  check_pins(findings, project);
  if (project.hashed) {
    check_unhashable(findings, project);
    check_files(findings, project);
  }
}

}  // namespace autopack::project
