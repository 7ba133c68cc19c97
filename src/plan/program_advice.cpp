#include "base/contains.hpp"
#include "base/text.hpp"
#include "plan/advice.hpp"
#include "project/code/python_uses.hpp"
#include "project/program/launcher.hpp"
#include "project/tables/system_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::plan {

namespace {

/// Returns true for programs that only describe or show something, and are optional.
bool is_auxiliary(std::string_view name) {
  static constexpr std::array<std::string_view, 16> names{
      "git",    "git-lfs", "svn",  "ps",   "lspci", "lsof", "ip",     "ping",
      "strace", "sudo",    "perf", "file", "gdb",   "tmux", "screen", "vim"};
  return contains(names, name);
}

/// Returns true for methods that a library calls.
bool is_called_by_libraries(std::string_view function) {
  static constexpr std::array<std::string_view, 8> names{
      "prepare_data", "setup",    "train_dataloader", "training_step",
      "forward",      "download", "process",          "get"};
  return function.starts_with("__") || contains(names, function);
}

bool is_called(const ReadablePlan& plan,
               const ImportFindings& imports,
               const std::string& function) {
  return function.empty() || is_called_by_libraries(function) ||
         std::ranges::any_of(imports.files, [&](const ContextEntry* file) {
           return project::surely_mentions(plan.read(*file), function);
         });
}

/// A module that needs more of the system than its package provides.
struct ModuleNeed {
  std::string_view module{};
  std::string_view distribution{};  ///< that provides it; empty: Python itself
  std::string_view need{};
  std::array<std::string_view, 2> any_of{};  ///< as of BaseModules
  std::string_view packages{};               ///< of Debian
  std::string_view silenced_by{};            ///< a variable that makes the program work without it
};

/// conda's Python provides a Tk of its own.
constexpr std::array module_needs{
    ModuleNeed{"git",
               "gitpython",
               "runs the program `git`",
               {"program:git", ""},
               "git",
               "GIT_PYTHON_REFRESH"},
    ModuleNeed{
        "tkinter", "", "loads Tk", {"library:libtk8.6.so", "program:conda"}, "python3-tk", ""},
    ModuleNeed{
        "turtle", "", "loads Tk", {"library:libtk8.6.so", "program:conda"}, "python3-tk", ""},
};

/// The import of `need` that surely runs with the program; null if there is none.
const project::Import* sure_import(const project::PythonFile& file, std::string_view module) {
  const auto found = std::ranges::find_if(file.imports, [&](const project::Import& import) {
    return import.level == 0 && !import.optional && !import.nested && !import.when_main &&
           (import.module == module || import.module.starts_with(std::string{module} + "."));
  });
  return found == file.imports.end() ? nullptr : &*found;
}

bool is_provided(const ReadablePlan& plan,
                 const project::Project& project,
                 const ModuleNeed& need) {
  const auto& installed = plan.dependencies.apt_packages;
  const auto packages = split(need.packages, ',');
  const bool by_apt = std::ranges::any_of(packages, [&](const std::string& name) {
    return std::ranges::find(installed, name) != installed.end();
  });
  const bool is_named = need.distribution.empty() ||
                        std::ranges::any_of(project.listed_requirements, [&](const auto& listed) {
                          return listed.requirement.name == need.distribution;
                        });
  return by_apt || !is_named;
}

Problems unmet_module_needs(const ReadablePlan& plan,
                            const project::Project& project,
                            const ImportFindings& imports,
                            const BaseModules& in_base) {
  Problems problems;
  for (const auto& need : module_needs) {
    for (const auto& file : imports.reached) {
      if (!file.sure || is_provided(plan, project, need)) {
        continue;
      }
      const auto read = python_file_of(plan, project, *file.entry);
      const auto* const import = sure_import(read, need.module);
      if (import == nullptr) {
        continue;
      }
      const bool is_silenced = !need.silenced_by.empty() &&
                               plan.read(*file.entry).find(need.silenced_by) != std::string::npos;
      std::vector<std::string> names;
      for (const auto name : need.any_of) {
        if (!name.empty()) {
          names.emplace_back(name);
        }
      }
      const auto there = in_base(names);
      const bool is_missing =
          there.size() == names.size() &&
          std::ranges::none_of(there, [](const auto& one) { return one.second; });
      if (is_missing && !is_silenced) {
        problems.push_back(Problem::warning(
            {.message = fmt::format("`{}` line {} imports `{}`, which {}, and the executor image "
                                    "does not have it",
                                    printable(file.path), import->line, need.module, need.need),
             .hints = plan.base.apt
                          ? std::vector{fmt::format("--system-packages={}", need.packages)}
                          : std::vector<std::string>{}}));
      }
      break;
    }
  }
  return problems;
}

Problem missing_program(const ReadablePlan& plan, const StartedProgram& started) {
  Problem problem{
      .severity = Problem::Severity::warning,
      .message = fmt::format("`{}` line {} starts `{}`, and the executor image does not have it",
                             printable(started.path), started.line, printable(started.name))};
  const auto package = project::package_of_program(started.name);
  if (!package) {
    problem.hints = {"`sys.executable` is the Python that runs"};
  } else if (plan.base.apt) {
    problem.hints = {fmt::format("--system-packages={}", *package)};
  }
  return problem;
}

}  // namespace

Problems program_advice(const ReadablePlan& plan,
                        const project::Project& project,
                        const ImportFindings& imports,
                        const BaseModules& in_base) {
  Problems problems = in_base ? unmet_module_needs(plan, project, imports, in_base) : Problems{};
  auto started = imports.programs;
  std::erase_if(started, [&](const StartedProgram& one) {
    const bool is_judged =
        project::is_interpreter(one.name) || project::package_of_program(one.name);
    return !is_judged || is_auxiliary(one.name) ||
           project::is_in_packages(one.name, plan.dependencies.apt_packages) != false;
  });
  if (started.empty() || !in_base) {
    return problems;
  }
  std::vector<std::string> names;
  for (const auto& one : started) {
    names.push_back("program:" + one.name);
  }
  const auto known = in_base(names);
  std::vector<std::string> reported;
  for (const auto& one : started) {
    const auto there = known.find("program:" + one.name);
    const bool is_reported = contains(reported, one.name);
    if (!is_reported && there != known.end() && !there->second &&
        is_called(plan, imports, one.function)) {
      reported.push_back(one.name);
      problems.push_back(missing_program(plan, one));
    }
  }
  return problems;
}

}  // namespace autopack::plan
