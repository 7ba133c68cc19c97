#include "plan/advice.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/code/python_file.hpp"
#include "project/code/python_tokens.hpp"
#include "project/program/named_distributions.hpp"
#include "project/program/opened_paths.hpp"
#include "project/requirements/requirement_checks.hpp"
#include "python/requirement.hpp"
#include "python/specifier.hpp"
#include "python/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>

namespace autopack::plan {

namespace {

/// Directories that a container has of its own, and those that it mounts.
bool is_of_containers(std::string_view path) {
  static constexpr std::array<std::string_view, 15> places{
      "/bin/",  "/dev/", "/etc/",  "/gcs/", "/lib/", "/lib64/", "/media/", "/mnt/",
      "/proc/", "/run/", "/sbin/", "/sys/", "/tmp/", "/usr/",   "/var/"};
  return std::ranges::any_of(places, [&](auto place) { return path.starts_with(place); });
}

bool exists_here(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

/// True if the code may do without a file: it asks whether one exists, or handles failures.
bool is_careful(std::string_view text) {
  static constexpr std::array<std::string_view, 5> words{"exists(", "isfile(", "is_file(", "isdir(",
                                                         "is_dir("};
  return text.find("except") != std::string_view::npos ||
         std::ranges::any_of(words,
                             [&](auto word) { return text.find(word) != std::string_view::npos; });
}

bool surely_imports(const project::PythonFile& file, std::string_view module) {
  return std::ranges::any_of(file.imports, [&](const auto& import) {
    return import.level == 0 && import.module == module && !import.optional && !import.nested;
  });
}

class MachineCheck {
public:
  MachineCheck(const ReadablePlan& plan,
               const project::Project& project,
               const BaseModules& in_base)
      : plan_{plan}, project_{project}, in_base_{in_base} {}

  Problems run(const std::vector<ReachedFile>& reached) {
    for (const auto& file : reached) {
      if (file.sure) {
        read(file);
      }
    }
    return std::move(problems_);
  }

private:
  void read(const ReachedFile& file) {
    const auto text = plan_.read(*file.entry);
    const auto holds = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    const bool is_of_interest =
        holds("\"/") || holds("'/") || holds("zoneinfo") || holds("getpass");
    if (!is_of_interest || is_careful(text)) {
      return;
    }
    const auto code = project::read_python_file(text);
    const bool has_zones = surely_imports(code, "zoneinfo");
    const bool has_users = surely_imports(code, "getpass");
    std::string before;
    project::PythonTokens tokens{text};
    for (project::Token token; tokens.next(token);) {
      if (token.kind == project::Token::Kind::string && !token.computed) {
        if (token.text.starts_with('/')) {
          check_path(file, text, token);
        } else if (has_zones && before.ends_with("ZoneInfo(")) {
          check_zone(file, token);
        }
        before.clear();
        continue;
      }
      before += token.text;
      if (has_users && before.ends_with("getpass.getuser(")) {
        check_user(file, token);
      }
      if (token.kind == project::Token::Kind::line_end) {
        before.clear();
      }
    }
  }

  void check_path(const ReachedFile& file, std::string_view text, const project::Token& string) {
    const std::string& path = string.text;
    const bool is_mounted = project_.given_at.contains("volume");
    const bool is_plain = source::normalise(path.substr(1)) == path.substr(1) && path.size() > 1;
    if (is_mounted || !is_plain || is_of_containers(path) || !exists_here(path) ||
        project::opened_from(text, string.line, path) != project::OpenedFrom::directory ||
        !base_lacks({"file:" + path}) || !reported_.insert(path).second) {
      return;
    }
    Problem problem{.severity = Problem::Severity::warning,
                    .message = fmt::format("`{}` line {} opens `{}`, which this machine has and "
                                           "the image does not",
                                           printable(file.path), string.line, printable(path))};
    if (const auto inside = path_in_image(path)) {
      problem.hints = {fmt::format("write `{}`, which is in the image", printable(*inside))};
    } else {
      problem.hints = {"copy it into the project, and open it by its path there",
                       fmt::format("`--volume={0}:{0}:ro` gives it to a run on this machine",
                                   shell_quote(path))};
    }
    problems_.push_back(std::move(problem));
  }

  /// The longest end of `path` that names something in the image: `data/x.csv`.
  std::optional<std::string> path_in_image(std::string_view path) const {
    for (auto slash = path.find('/'); slash != std::string_view::npos;
         slash = path.find('/', slash + 1)) {
      const std::string end{path.substr(slash + 1)};
      if (entry_behind_links(plan_, end) != nullptr) {
        return end;
      }
    }
    return std::nullopt;
  }

  void check_zone(const ReachedFile& file, const project::Token& string) {
    const std::string& zone = string.text;
    if (reported_zone_ || may_install_zones() ||
        !base_lacks({"tzdata", "program:conda", "file:/usr/share/zoneinfo/" + zone,
                     "file:/usr/lib/zoneinfo/" + zone, "file:/usr/share/lib/zoneinfo/" + zone,
                     "file:/etc/zoneinfo/" + zone})) {
      return;
    }
    reported_zone_ = true;
    problems_.push_back(Problem::warning(
        {.message = fmt::format("`{}` line {} uses the time zone `{}`, and the "
                                "image has no data of time zones",
                                printable(file.path), string.line, printable(zone)),
         .hints = {"`--requirements=tzdata`"}}));
  }

  /// True unless it is known that no requirement provides the data: a lock lists everything.
  bool may_install_zones() {
    const auto& dependencies = plan_.dependencies;
    const auto& environment = plan_.base.environment;
    const bool has_path = std::ranges::any_of(
        environment, [](const auto& pair) { return pair.starts_with("PYTHONTZPATH="); });
    if (has_path || !dependencies.apt_packages.empty() ||
        (dependencies.needs_pip() && !dependencies.lock)) {
      return true;
    }
    const auto named = project::named_distributions(plan_.working_directory(), project_);
    return !named.certain || contains(named.names, "tzdata");
  }

  /// A user that is a number needs an entry in /etc/passwd, or a variable that names it.
  void check_user(const ReachedFile& file, const project::Token& call) {
    const auto user = plan_.user.substr(0, plan_.user.find(':'));
    const bool is_number =
        !user.empty() && user != "0" && user.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || reported_user_ || names_user() || !base_lacks({"user:" + user})) {
      return;
    }
    reported_user_ = true;
    problems_.push_back(
        Problem::warning({.message = fmt::format("`{}` line {} asks for the name of the user, and "
                                                 "the image's user {} has none",
                                                 printable(file.path), call.line, user),
                          .hints = {"`--env=USER=NAME`"}}));
  }

  bool names_user() const {
    static constexpr std::array<std::string_view, 4> variables{
        "LOGNAME=", "USER=", "LNAME=", "USERNAME="};
    const auto& environment = plan_.base.environment;
    return project_.given_at.contains("env") || project_.given_at.contains("env-file") ||
           !plan_.dependencies.apt_packages.empty() ||
           std::ranges::any_of(environment, [](const auto& pair) {
             return std::ranges::any_of(variables,
                                        [&](auto variable) { return pair.starts_with(variable); });
           });
  }

  bool base_lacks(const std::vector<std::string>& names) const {
    const auto known = in_base_(names);
    return known.size() == names.size() &&
           std::ranges::none_of(known, [](const auto& one) { return one.second; });
  }

  const ReadablePlan& plan_;
  const project::Project& project_;
  const BaseModules& in_base_;
  std::set<std::string> reported_{};
  bool reported_zone_{false};
  bool reported_user_{false};
  Problems problems_{};
};

/// Warns of what files that the program surely imports expect of the machine, and what the executor
/// image surely lacks: files at absolute paths that exist on this machine, time zones, and a name
/// of the user.
Problems machine_advice(const ReadablePlan& plan,
                        const project::Project& project,
                        const std::vector<ReachedFile>& reached,
                        const BaseModules& in_base) {
  return in_base ? MachineCheck{plan, project, in_base}.run(reached) : Problems{};
}

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

void report_replaced(const Framework& framework,
                     const python::Requirement& requirement,
                     const std::string& origin,
                     Problems& problems) {
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
      origin, {fmt::format("`{}` without a version keeps the image's", framework.distribution)}));
}

/// Reports names of the public index that pip cannot install: two only report the right name and
/// fail, the third belongs to nobody.
void report_impossible(const python::Requirement& requirement,
                       const std::string& origin,
                       Problems& problems) {
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
    problems.push_back(warning("pip cannot install `python`", origin,
                               {"the executor image provides Python: remove the line"}));
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
void report_foreign(const python::Requirement& requirement,
                    const std::string& origin,
                    Problems& problems) {
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
        warning(fmt::format("`{}` is for {} only: there is no file for Linux", name,
                            windows ? "Windows" : "macOS"),
                origin,
                {fmt::format("`{}{} ; sys_platform == \"{}\"`", name, printable(requirement.rest),
                             windows ? "win32" : "darwin")}));
  }
}

void report_doubtful_requirements(const ReadablePlan& plan,
                                  const project::Project& project,
                                  Problems& problems) {
  const auto framework = framework_of(plan.base);
  const auto report = [&](const python::Requirement& requirement, const std::string& origin) {
    report_impossible(requirement, origin, problems);
    report_foreign(requirement, origin, problems);
    if (framework) {
      report_replaced(*framework, requirement, origin, problems);
    }
  };
  for (const auto& listed : project.listed_requirements) {
    if (!listed.editable) {
      report(listed.requirement, listed.origin);
    }
  }
  for (const auto& requirement : project.requirements) {
    report(requirement.parts, "`--requirements`");
  }
  if (!project.lock) {
    for (const auto& requirement : plan.dependencies.package_requirements) {
      report_foreign(python::parse_requirement(requirement), "pyproject.toml", problems);
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
    problem.hints.emplace_back("packages that the executor image has already need no hash");
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
  report_doubtful_requirements(plan, project, advice.warnings);
  return advice;
}

}  // namespace autopack::plan
