#include "base/contains.hpp"
#include "base/text.hpp"
#include "plan/advice.hpp"
#include "project/certain.hpp"
#include "project/program/named_distributions.hpp"
#include "project/requirements/requirement_files.hpp"
#include "project/tables/known_distributions.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

namespace autopack::plan {

namespace {

constexpr std::size_t most_modules_reported{6};

python::MarkerEnvironment environment_of(const Plan& plan) {
  const auto version = python::Version::parse(plan.base.python_version.value_or(""));
  const bool is_amd = plan.platform.ends_with("/amd64");
  return environment_on_linux(version.value_or(python::Version{}),
                              is_amd ? std::optional{"x86_64"} : std::nullopt);
}

/// Determines who provides the imports of a program.
class Providers {
public:
  Providers(const ReadablePlan& plan, const project::Project& project)
      : named_{project::named_distributions(
            plan.working_directory(), project, environment_of(plan))},
        base_{framework_in(plan.base)},
        is_unread_{plan.dependencies.install && plan.dependencies.resolves},
        has_extras_{has_extras(project)} {
    if (base_ == "torch") {
      framework_ = {"torch", "torchvision", "torchaudio"};
    } else if (base_) {
      framework_ = {*base_};
    }
    std::vector<std::string> unknown;
    std::ranges::copy_if(named_.names, std::back_inserter(unknown),
                         [](const auto& name) { return !project::is_known_distribution(name); });
    has_unknown_ = !named_.certain || !unknown.empty();
    is_complete_ =
        named_.certain && !is_unread_ &&
        std::includes(named_.local.begin(), named_.local.end(), unknown.begin(), unknown.end());
  }

  bool bring(const std::string& module) const {
    return project::is_brought_by(module, named_.names) ||
           project::is_brought_by(module, framework_);
  }

  /// Returns false if the dependencies of a requirement are unknown.
  bool is_complete() const { return is_complete_; }

  /// Returns true if all modules of the requirements are known; the dependencies of extras are not.
  bool are_known() const { return is_complete_ && !has_extras_; }

  /// Returns true if it may come from a source whose modules are unknown: a version control URL,
  /// the build of the project itself, a distribution of which only the name is known.
  bool may_bring(const std::string& module) const {
    if (!named_.certain || is_unread_) {
      return project::distributions_of(module).empty();
    }
    return has_unknown_ && project::distributions_of(module).empty();
  }

private:
  project::NamedDistributions named_;
  std::optional<std::string> base_;
  std::vector<std::string> framework_{};

  static bool has_extras(const project::Project& project) {
    const auto asks = [](const std::string& text) { return text.find('[') != std::string::npos; };
    return std::ranges::any_of(project.normalised_requirements, asks) ||
           std::ranges::any_of(python::texts_of(project.requirements), asks);
  }

  bool is_unread_;  ///< only the build of the project determines its requirements
  bool has_extras_;
  bool has_unknown_{false};
  bool is_complete_{false};
};

std::string place_of(const OpenImport& import) {
  return fmt::format("`{}` line {}", printable(import.path), import.line);
}

/// Treats `google.cloud.storage.Client` and `google.cloud.storage` as one if both are known as one.
std::string shown_module(const OpenImport& import) {
  std::string shown = import.module;
  const auto suggested = project::usual_distribution(shown);
  for (auto dot = shown.rfind('.'); suggested && dot != std::string::npos; dot = shown.rfind('.')) {
    if (project::usual_distribution(shown.substr(0, dot)) != suggested) {
      break;
    }
    shown = shown.substr(0, dot);
  }
  return shown;
}

/// Removes duplicates by the shown name.
std::vector<OpenImport> without_repeats(std::vector<OpenImport> imports) {
  std::set<std::string> seen;
  std::vector<OpenImport> once;
  for (auto& import : imports) {
    import.module = shown_module(import);
    if (seen.insert(import.module).second) {
      once.push_back(std::move(import));
    }
  }
  return once;
}

/// Returns the modules of `imports` that the requirements of an extra provide.
std::vector<std::string> brought_by(const std::vector<python::WrittenRequirement>& requirements,
                                    const std::vector<OpenImport>& imports) {
  std::vector<std::string> names;
  for (const auto& requirement : requirements) {
    if (requirement.parts.name) {
      names.push_back(*requirement.parts.name);
    }
  }
  std::vector<std::string> modules;
  for (const auto& import : imports) {
    if (project::is_brought_by(import.module, names)) {
      modules.push_back(import.module);
    }
  }
  return modules;
}

/// Removes the imports that extras of the project provide, and returns a hint for each extra. Takes
/// the extra with the most first, so that few are needed.
std::vector<std::string> hints_of_extras(const project::Project& project,
                                         std::vector<OpenImport>& imports) {
  std::vector<std::string> hints;
  while (project.package && !imports.empty()) {
    std::string best;
    std::vector<std::string> most;
    for (const auto& [extra, requirements] : project.package->extra_requirements) {
      auto modules = brought_by(requirements, imports);
      if (modules.size() > most.size()) {
        best = extra;
        most = std::move(modules);
      }
    }
    if (most.empty()) {
      break;
    }
    std::erase_if(imports, [&](const auto& import) { return contains(most, import.module); });
    std::ranges::transform(most, most.begin(),
                           [](const auto& module) { return "`" + printable(module) + "`"; });
    hints.push_back(fmt::format("`--extra={}` provides {}", shell_quote(best), join(most, ", ")));
  }
  return hints;
}

/// Removes the imports that unused requirement files provide, and returns a hint for each file.
std::vector<std::string> hints_of_files(const source::Tree& tree,
                                        const project::Project& project,
                                        std::vector<OpenImport>& imports) {
  std::vector<std::string> hints;
  const project::Findings findings{tree, project.ignore};
  for (const auto& file : project::unused_requirement_files(findings, project)) {
    const auto names = project::names_in_requirements(tree, file);
    std::vector<std::string> modules;
    std::erase_if(imports, [&](const auto& import) {
      const bool is_brought = project::is_brought_by(import.module, names);
      if (is_brought) {
        modules.push_back("`" + printable(import.module) + "`");
      }
      return is_brought;
    });
    if (!modules.empty()) {
      auto files = project.requirement_files;
      files.push_back(file);
      hints.push_back(fmt::format("`--requirements-file={}` provides {}",
                                  shell_quote(join(files, ",")), join(modules, ", ")));
    }
  }
  return hints;
}

/// Possible providers of an import that no requirement is known to provide.
struct Unseen {
  bool base{false};         ///< the executor image
  bool requirement{false};  ///< an unknown requirement
};

/// Returns `the executor image or another requirement`; empty if everything is known.
std::string words_of(const Unseen& unseen) {
  const std::string_view base = unseen.base ? "the executor image" : "";
  const std::string_view other = unseen.requirement ? "another requirement" : "";
  return fmt::format("{}{}{}", base, unseen.base && unseen.requirement ? " or " : "", other);
}

/// Returns the command that adds distributions to the installation: to the existing requirements
/// file, else with the flag. With a lock or hashes, it is not a command but text.
std::string adding(const ReadablePlan& plan,
                   const project::Project& project,
                   const std::vector<std::string>& names) {
  if (project.lock || project.hashed) {
    std::vector<std::string> quoted;
    std::ranges::transform(names, std::back_inserter(quoted),
                           [](const auto& name) { return "`" + name + "`"; });
    return fmt::format("add {} to the requirements", join(quoted, ", "));
  }
  if (project.requirement_files.empty()) {
    return fmt::format("`--requirements={}`", shell_quote(join(names, ",")));
  }
  const auto& file = project.requirement_files.front();
  const auto entry = plan.working_directory().find(file);
  const auto text = entry && entry->type == source::EntryType::file
                        ? plan.working_directory().read(file)
                        : std::string{};
  if (names.size() == 1 && (text.empty() || text.ends_with('\n'))) {
    return fmt::format("`{}`", source::append_command(names.front(), file));
  }
  return fmt::format("`printf '{}{}\\n' >> {}`", text.empty() || text.ends_with('\n') ? "" : "\\n",
                     join(names, "\\n"), shell_quote(file));
}

/// Suggests corrections of unknown names.
std::vector<std::string> hints_of_spelling(const std::vector<OpenImport>& imports) {
  std::vector<std::string> hints;
  for (const auto& import : imports) {
    if (const auto near = project::nearest_module(import.module)) {
      hints.push_back(fmt::format("did you mean `{}` by `{}`?", *near, printable(import.module)));
    }
  }
  return hints;
}

std::optional<std::string> hint_for(const ReadablePlan& plan,
                                    const project::Project& project,
                                    const std::vector<OpenImport>& imports,
                                    const Unseen& unseen) {
  std::vector<std::string> names;
  for (const auto& import : imports) {
    const auto name = project::usual_distribution(import.module);
    if (name && !contains(names, *name)) {
      names.push_back(*name);
    }
  }
  const auto others = words_of(unseen);
  if (names.empty() && others.empty()) {
    return std::nullopt;
  }
  if (names.empty()) {
    return fmt::format("unless {} provides it, the program ends there", others);
  }
  const auto* const what = names.size() == 1 ? "it" : "them";
  return adding(plan, project, names) +
         (others.empty() ? "" : fmt::format(", unless {} provides {}", others, what));
}

Problem missing_imports(const ReadablePlan& plan,
                        const project::Project& project,
                        std::vector<OpenImport> imports,
                        const Unseen& unseen) {
  Problem problem{.severity = Problem::Severity::warning};
  const std::string nobody = fmt::format(
      "{} {}", unseen.base ? "no requirement" : "neither a requirement nor the executor image",
      unseen.requirement ? "is known to provide" : "provides");
  if (imports.size() == 1) {
    const auto& import = imports.front();
    problem.message = fmt::format("{} imports `{}`, which {}", place_of(import),
                                  printable(import.module), nobody);
  } else {
    std::vector<std::string> parts;
    for (const auto& import : imports) {
      if (parts.size() == most_modules_reported) {
        parts.push_back(fmt::format("{} more", imports.size() - most_modules_reported));
        break;
      }
      parts.push_back(fmt::format("`{}` ({}:{})", printable(import.module), printable(import.path),
                                  import.line));
    }
    problem.message = fmt::format("{} these imports: {}", nobody, join(parts, ", "));
  }
  problem.hints = hints_of_extras(project, imports);
  for (auto& hint : hints_of_files(plan.working_directory(), project, imports)) {
    problem.hints.push_back(std::move(hint));
  }
  auto spelled = hints_of_spelling(imports);
  std::ranges::move(spelled, std::back_inserter(problem.hints));
  if (auto hint = hint_for(plan, project, imports, unseen); hint && !imports.empty()) {
    problem.hints.push_back(std::move(*hint));
  }
  return problem;
}

/// Returns the module to look for instead of a removed one of the standard library. setuptools
/// contains its replacement under a hidden name.
std::string module_to_look_for(const std::string& module) {
  return module == "distutils" ? "setuptools" : module;
}

Problem reported_removed(const OpenImport& import,
                         const project::RemovedName& removed,
                         const ReadablePlan& plan,
                         const project::Project& project) {
  const auto provider = project::usual_distribution(import.module);
  Problem problem{
      .severity = Problem::Severity::warning,
      .message = fmt::format("{} imports `{}`, which Python has only before 3.{}; the executor "
                             "image has {}",
                             place_of(import), printable(import.module), removed.minor,
                             plan.base.python_version.value_or(""))};
  problem.hints = {provider ? adding(plan, project, {*provider}) : remedy_for(removed)};
  return problem;
}

/// Removes the imports that the executor image provides. Returns false if the others are unknown.
bool settle_by_base(std::vector<OpenImport>& imports, const BaseModules& in_base) {
  if (imports.empty() || !in_base) {
    return false;
  }
  std::vector<std::string> modules;
  for (const auto& import : imports) {
    modules.push_back(module_to_look_for(import.module));
  }
  const auto known = in_base(modules);
  std::erase_if(imports, [&](const auto& import) {
    const auto found = known.find(module_to_look_for(import.module));
    return found != known.end() && found->second;
  });
  return std::ranges::all_of(imports, [&](const auto& import) {
    return known.contains(module_to_look_for(import.module));
  });
}

}  // namespace

Advice import_advice(const ReadablePlan& plan,
                     const project::Project& project,
                     ImportFindings imports,
                     const BaseModules& in_base) {
  Advice advice{.warnings = std::move(imports.problems)};
  const Providers providers{plan, project};
  std::erase_if(imports.open, [&](const auto& import) { return providers.bring(import.module); });
  auto open = without_repeats(std::move(imports.open));
  const bool base_is_known = settle_by_base(open, in_base);
  // The contents of Google's training images are unknown here.
  const bool is_full = plan.base.vertex_prebuilt && !base_is_known;
  std::vector<OpenImport> missing;
  for (const auto& import : open) {
    const bool is_own = import.elsewhere.has_value();
    const bool is_known = !is_full && !providers.may_bring(import.module);
    if (import.certain && (is_own || is_known)) {
      missing.push_back(import);
    } else {
      advice.details.push_back(fmt::format(
          "{} imports `{}`, which no requirement is known to provide{}", place_of(import),
          printable(import.module), import.certain ? "" : "; it may work without"));
    }
  }
  // If every possible provider is known, the program surely fails there.
  const bool all_known = base_is_known && providers.are_known();
  const auto ends = [&](const OpenImport& import) {
    return all_known && import.sure && !providers.may_bring(import.module);
  };
  const auto judged = [&](const OpenImport& import, Problem problem) {
    return ends(import) ? project::certain(std::move(problem)) : problem;
  };
  // Modules of the project itself are reported one by one.
  const auto foreign = std::stable_partition(
      missing.begin(), missing.end(), [](const auto& one) { return one.elsewhere.has_value(); });
  // A job may set PYTHONPATH, so that they are found anyway: nothing is certain.
  std::transform(missing.begin(), foreign, std::back_inserter(advice.warnings),
                 [](const auto& one) { return *one.elsewhere; });
  missing.erase(missing.begin(), foreign);
  if (const auto python = python::Version::parse(plan.base.python_version.value_or(""))) {
    std::erase_if(missing, [&](const auto& import) {
      const auto* const removed = project::find_removed_module(import.module, *python);
      if (removed != nullptr) {
        advice.warnings.push_back(
            judged(import, reported_removed(import, *removed, plan, project)));
      }
      return removed != nullptr;
    });
  }
  const auto others = std::stable_partition(missing.begin(), missing.end(), ends);
  const Unseen unseen{.base = !base_is_known, .requirement = !providers.is_complete()};
  for (auto& group : {std::vector<OpenImport>(missing.begin(), others),
                      std::vector<OpenImport>(others, missing.end())}) {
    if (group.empty()) {
      continue;
    }
    auto problem = missing_imports(plan, project, group, unseen);
    std::vector<std::string> modules;
    std::ranges::transform(group, std::back_inserter(modules),
                           [](const auto& one) { return one.module; });
    if (auto hint = unread_conda_hint(plan, project, modules)) {
      problem.hints.push_back(std::move(*hint));
    }
    advice.warnings.push_back(judged(group.front(), std::move(problem)));
  }
  return advice;
}

}  // namespace autopack::plan
