#include "plan/program_advice.hpp"

#include "base/text.hpp"
#include "project/launcher.hpp"
#include "project/python_uses.hpp"
#include "project/system_programs.hpp"

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
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns true for methods that a library calls.
bool is_called_by_libraries(std::string_view function) {
  static constexpr std::array<std::string_view, 8> names{
      "prepare_data", "setup",    "train_dataloader", "training_step",
      "forward",      "download", "process",          "get"};
  return function.starts_with("__") ||
         std::find(names.begin(), names.end(), function) != names.end();
}

bool is_called(const ReadablePlan& plan,
               const ImportFindings& imports,
               const std::string& function) {
  return function.empty() || is_called_by_libraries(function) ||
         std::any_of(imports.files.begin(), imports.files.end(), [&](const ContextEntry* file) {
           return project::surely_mentions(plan.read(*file), function);
         });
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
                        const ImportFindings& imports,
                        const BaseModules& in_base) {
  auto started = imports.programs;
  std::erase_if(started, [&](const StartedProgram& one) {
    const bool is_judged =
        project::is_interpreter(one.name) || project::package_of_program(one.name);
    return !is_judged || is_auxiliary(one.name) ||
           project::is_in_packages(one.name, plan.dependencies.apt_packages) != false;
  });
  if (started.empty() || !in_base) {
    return {};
  }
  std::vector<std::string> names;
  for (const auto& one : started) {
    names.push_back("program:" + one.name);
  }
  const auto known = in_base(names);
  Problems problems;
  std::vector<std::string> told;
  for (const auto& one : started) {
    const auto there = known.find("program:" + one.name);
    const bool is_told = std::find(told.begin(), told.end(), one.name) != told.end();
    if (!is_told && there != known.end() && !there->second &&
        is_called(plan, imports, one.function)) {
      told.push_back(one.name);
      problems.push_back(missing_program(plan, one));
    }
  }
  return problems;
}

}  // namespace autopack::plan
