#include "plan/advice.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "plan/conda_advice.hpp"
#include "plan/machine_advice.hpp"
#include "plan/program_advice.hpp"
#include "project/requirements/requirement_checks.hpp"
#include "project/requirements/requirement_lines.hpp"
#include "python/requirement.hpp"
#include "python/specifier.hpp"
#include "python/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace autopack::plan {

namespace {

Problem warning(std::string message, std::string origin, std::vector<std::string> hints) {
  return Problem::warning({.message = std::move(message),
                           .origin = non_empty(std::move(origin)),
                           .hints = std::move(hints)});
}

/// A deep learning framework in an executor image; without a version if that is unknown.
struct Framework {
  std::string distribution{};
  std::vector<std::uint64_t> version{};
};

std::vector<std::uint64_t> version_in(std::string_view text, std::string_view separators) {
  std::vector<std::uint64_t> parts;
  for (std::size_t at = 0; at < text.size() && parts.size() < 3;) {
    const auto end = std::min(text.find_first_not_of("0123456789", at), text.size());
    if (end == at || end - at > 4) {
      break;
    }
    parts.push_back(std::stoul(std::string{text.substr(at, end - at)}));
    if (end >= text.size() || separators.find(text[end]) == std::string_view::npos) {
      break;
    }
    at = end + 1;
  }
  return parts;
}

std::string variable(const image::BaseFacts& base, const std::string& name) {
  for (const auto& pair : base.environment) {
    if (pair.starts_with(name + "=")) {
      return pair.substr(name.size() + 1);
    }
  }
  return {};
}

/// Determined from the image's variables and name: `tf-gpu.2-12.py310`,
/// `pytorch/pytorch:2.1.0-cuda12`.
std::optional<Framework> framework_of(const image::BaseFacts& base) {
  const auto reference = base.reference.substr(0, base.reference.find('@'));
  const auto name = reference.substr(reference.rfind('/') + 1);
  Framework framework;
  std::string version;
  if (reference.find("pytorch") != std::string::npos) {
    framework.distribution = "torch";
    version = variable(base, "PYTORCH_VERSION");
  } else if (reference.find("tensorflow") != std::string::npos || name.starts_with("tf-") ||
             name.starts_with("tf2-")) {
    framework.distribution = "tensorflow";
    version = variable(base, "TENSORFLOW_VERSION");
  } else {
    return std::nullopt;
  }
  framework.version = version_in(version, ".");
  if (framework.version.empty()) {
    const auto mark = name.find_first_of(base.vertex_prebuilt ? ".:" : ":");
    if (mark != std::string::npos) {
      framework.version = version_in(std::string_view{name}.substr(mark + 1), ".-");
    }
  }
  return framework;
}

/// Returns the conditions of `rest` on a version without a local part: an image's name does not say
/// which build (`+cu121`) of the framework it has.
std::optional<python::SpecifierSet> public_conditions(const std::string& rest) {
  const auto given = python::SpecifierSet::parse(rest);
  if (!given) {
    return std::nullopt;
  }
  std::vector<python::Specifier> conditions;
  for (auto condition : given->all()) {
    const bool has_local = !condition.version.local.empty();
    if (has_local && condition.op == python::Specifier::Operator::not_equal) {
      continue;
    }
    condition.version.local.clear();
    condition.text = condition.text.substr(0, condition.text.find('+'));
    conditions.push_back(std::move(condition));
  }
  return python::SpecifierSet{std::move(conditions)};
}

/// Returns true if a version that begins with `known`, whose further parts are unknown, fits.
bool may_fit(const python::SpecifierSet& conditions, python::Version known) {
  constexpr std::size_t parts{3};
  constexpr std::uint64_t highest{40};
  if (known.release.size() >= parts) {
    return conditions.contains(known, python::Prereleases::allowed);
  }
  known.release.push_back(0);
  for (auto& part = known.release.back(); part <= highest; ++part) {
    if (may_fit(conditions, known)) {
      return true;
    }
  }
  return false;
}

/// Returns true if pip may keep the framework, as far as its version is known.
bool may_stay(const Framework& framework, const std::string& rest) {
  const auto conditions = public_conditions(rest);
  return framework.version.empty() || !conditions ||
         may_fit(*conditions, {.release = framework.version});
}

void tell_replaced(const Framework& framework,
                   const std::string& text,
                   const std::string& origin,
                   Problems& problems) {
  const auto requirement = python::parse_requirement(text);
  const bool same =
      requirement.name == framework.distribution ||
      (framework.distribution == "tensorflow" &&
       (requirement.name == "tensorflow-cpu" || requirement.name == "tensorflow-gpu"));
  if (!same) {
    return;
  }
  const bool stays = requirement.kind == python::Requirement::Kind::named &&
                     requirement.name == framework.distribution &&
                     may_stay(framework, requirement.rest);
  if (stays) {
    return;
  }
  std::string version;
  for (const auto part : framework.version) {
    version += (version.empty() ? " " : ".") + std::to_string(part);
  }
  problems.push_back(warning(
      fmt::format("`{}` replaces the {}{} of the executor image, which was built for its CUDA",
                  printable(python::normalised(requirement)), framework.distribution, version),
      origin,
      {fmt::format("`{}` without a version keeps what the image brings", framework.distribution)}));
}

/// Reports names of the public index that pip cannot install: two only report the right name and
/// fail, the third belongs to nobody.
void tell_impossible(const std::string& text, const std::string& origin, Problems& problems) {
  const auto requirement = python::parse_requirement(text);
  if (requirement.kind != python::Requirement::Kind::named) {
    return;
  }
  if (requirement.name == "pytorch") {
    problems.push_back(
        warning("`pytorch` is conda's name: pip's distribution of that name fails to install",
                origin, {"`torch`"}));
  } else if (requirement.name == "sklearn" && requirement.rest != "==0.0") {
    problems.push_back(
        warning("`sklearn` is the name of the module: pip's distribution of that "
                "name fails to install",
                origin, {"`scikit-learn`"}));
  } else if (requirement.name == "python") {
    problems.push_back(warning("`python` is nothing that pip can install", origin,
                               {"the executor image brings Python: take the line out"}));
  }
}

/// Distributions with files for one system only: Windows, then macOS.
bool is_for_windows(const std::string& name) {
  static constexpr std::array<std::string_view, 6> names{
      "pypiwin32", "pywin32", "pywinpty", "tensorflow-intel", "triton-windows", "windows-curses"};
  return contains(names, name);
}

bool is_for_mac(const std::string& name) {
  static constexpr std::array<std::string_view, 5> names{"mlx-metal", "pyobjc", "pyobjc-core",
                                                         "tensorflow-macos", "tensorflow-metal"};
  return contains(names, name) || name.starts_with("pyobjc-framework-");
}

/// Reports lines that `pip freeze` writes on other machines, and that no pip on Linux can install.
void tell_foreign(const std::string& text, const std::string& origin, Problems& problems) {
  const auto requirement = python::parse_requirement(text);
  const auto name = requirement.name.value_or("");
  if (requirement.kind != python::Requirement::Kind::named || requirement.marker) {
    return;
  }
  if (name == "pkg-resources" && requirement.rest == "==0.0.0") {
    problems.push_back(
        warning("no index has `pkg-resources==0.0.0`: Debian's `pip freeze` adds it by mistake",
                origin, {"delete the line"}));
  } else if (is_for_windows(name) || is_for_mac(name)) {
    const bool windows = is_for_windows(name);
    problems.push_back(
        warning(fmt::format("`{}` is for {} only: pip finds no file of it for Linux", name,
                            windows ? "Windows" : "macOS"),
                origin,
                {fmt::format("`{}{} ; sys_platform == \"{}\"`", name, printable(requirement.rest),
                             windows ? "win32" : "darwin")}));
  }
}

void tell_doubtful_requirements(const ReadablePlan& plan,
                                const project::Project& project,
                                Problems& problems) {
  const auto framework = framework_of(plan.base);
  const auto tell = [&](const std::string& text, const std::string& origin) {
    tell_impossible(text, origin, problems);
    tell_foreign(text, origin, problems);
    if (framework) {
      tell_replaced(*framework, text, origin, problems);
    }
  };
  for (const auto& file : project.requirement_inputs) {
    const auto entry = plan.working_directory().find(file);
    const bool is_text = file.ends_with(".txt") || file.ends_with(".in");
    if (!entry || entry->type != source::EntryType::file || !is_text) {
      continue;
    }
    const auto text = project::decode_requirements(plan.working_directory().read(file)).text;
    for (const auto& line : project::split_requirements(text)) {
      if (line.requirement) {
        tell(*line.requirement, fmt::format("{}:{}", printable(file), line.first));
      }
    }
  }
  for (const auto& requirement : project.requirements) {
    tell(requirement, "`--requirements`");
  }
  if (!project.lock) {
    for (const auto& requirement : plan.dependencies.package_requirements) {
      tell_foreign(requirement, "pyproject.toml", problems);
    }
  }
}

/// True if `installed` satisfies `listed`, so that pip fetches nothing for it.
bool is_installed(const project::ListedRequirement& listed,
                  const std::map<std::string, std::string>& installed) {
  const auto found = installed.find(listed.requirement.name.value_or(""));
  if (found == installed.end()) {
    return false;
  }
  const auto conditions = python::SpecifierSet::parse(listed.requirement.rest);
  const auto version = python::Version::parse(found->second);
  return !conditions || !version || conditions->contains(*version, python::Prereleases::allowed);
}

std::optional<Problem> hash_advice(const project::Project& project, const BaseVersions& versions) {
  auto unhashed = project::requirements_without_hash(project);
  if (unhashed.empty()) {
    return std::nullopt;
  }
  const auto installed = versions ? versions() : std::nullopt;
  if (installed) {
    std::erase_if(unhashed, [&](const auto* listed) { return is_installed(*listed, *installed); });
    if (unhashed.empty()) {
      return std::nullopt;
    }
  }
  auto problem = project::missing_hashes(project, unhashed);
  if (!installed) {
    problem.severity = Problem::Severity::warning;
    problem.hints.emplace_back("what the executor image has already needs no hash");
  }
  return problem;
}

}  // namespace

std::optional<std::string> framework_in(const image::BaseFacts& base) {
  const auto framework = framework_of(base);
  return framework ? std::optional{framework->distribution} : std::nullopt;
}

Advice advice(const ReadablePlan& plan,
              const project::Project& project,
              ImportFindings imports,
              const BaseModules& in_base,
              const SyntaxFaults& faults,
              const BaseVersions& versions) {
  Problems of_syntax = syntax_advice(plan, imports.reached, faults);
  auto programs = program_advice(plan, project, imports, in_base);
  append(programs, machine_advice(plan, project, imports.reached, in_base));
  Advice advice = import_advice(plan, project, std::move(imports), in_base);
  advice.warnings.insert(advice.warnings.begin(), std::make_move_iterator(of_syntax.begin()),
                         std::make_move_iterator(of_syntax.end()));
  std::ranges::move(programs, std::back_inserter(advice.warnings));
  if (auto problem = conda_advice(plan, project, in_base)) {
    advice.warnings.push_back(std::move(*problem));
  }
  if (auto problem = hash_advice(project, versions)) {
    advice.warnings.push_back(std::move(*problem));
  }
  tell_doubtful_requirements(plan, project, advice.warnings);
  return advice;
}

}  // namespace autopack::plan
