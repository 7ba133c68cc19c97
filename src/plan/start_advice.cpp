#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "plan/advice.hpp"
#include "project/certain.hpp"
#include "project/findings.hpp"
#include "project/package/console_scripts.hpp"
#include "project/program/launcher.hpp"
#include "project/program/named_distributions.hpp"
#include "project/program/started.hpp"
#include "project/program/system_needs.hpp"
#include "project/tables/known_distributions.hpp"
#include "project/tables/python_names.hpp"
#include "project/tables/system_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace autopack::plan {

namespace {

using Severity = Problem::Severity;

/// Returns true for a path, which is checked elsewhere, and for programs of every image with a
/// shell.
bool is_everywhere(const std::string& program) {
  static constexpr std::array<std::string_view, 7> names{"bash", "env",     "nice",  "nohup",
                                                         "sh",   "timeout", "stdbuf"};
  return program.find('/') != std::string::npos || contains(names, program);
}

class StartCheck {
public:
  StartCheck(const ReadablePlan& plan,
             const project::Project& project,
             project::Installation installation,
             const BaseContents& in_base)
      : plan_{plan}, project_{project}, installation_{installation}, in_base_{in_base} {}

  Problems run() {
    const auto& entry = plan_.entry;
    check_program(entry.launcher, "launcher");
    if (entry.kind == project::EntryKind::installed_module) {
      check_module(entry.value, "python-module");
    } else if (entry.kind == project::EntryKind::program && !entry.file) {
      check_program(entry.words, "command");
    }
    for (const auto& started : project_.started) {
      check_started(started);
    }
    auto needs = project::find_start_needs(plan_.working_directory(), project_);
    for (auto& problem : needs.problems) {
      problem.origin = project_.origin_of(problem.origin.value_or(""));
      problems_.push_back(std::move(problem));
    }
    check_used(std::move(needs.programs));
    const auto installation =
        plan_.dependencies.apt_packages.empty() ? installation_ : project::Installation::by_pip;
    for (const auto& need :
         project::system_needs(plan_.working_directory(), project_, installation)) {
      check_need(need);
    }
    return std::move(problems_);
  }

private:
  Problem& report(Severity severity,
                  std::string message,
                  const std::string& origin,
                  std::vector<std::string> hints) {
    return problems_.emplace_back(Problem{.severity = severity,
                                          .message = std::move(message),
                                          .origin = non_empty(project_.origin_of(origin)),
                                          .hints = std::move(hints)});
  }

  void warn(bool certain,
            std::string message,
            const std::string& origin,
            std::vector<std::string> hints) {
    auto& problem = report(Severity::warning, std::move(message), origin, std::move(hints));
    if (certain) {
      problem = project::certain(std::move(problem));
    }
  }

  /// Returns whether the executor image contains one of `names`; nothing if unknown.
  std::optional<bool> base_holds(const std::vector<std::string>& names) const {
    const auto known = in_base_ ? in_base_(names) : std::map<std::string, bool>{};
    const bool any = std::ranges::any_of(known, [](const auto& one) { return one.second; });
    return any || known.size() == names.size() ? std::optional{any} : std::nullopt;
  }

  const project::NamedDistributions& named() {
    if (!named_) {
      named_ = project::named_distributions(plan_.working_directory(), project_);
    }
    return *named_;
  }

  bool is_installed_by_apt(const std::string& packages) const {
    const auto& all = plan_.dependencies.apt_packages;
    const auto wanted = split(packages, ',');
    return std::ranges::any_of(wanted, [&](const std::string& one) { return contains(all, one); });
  }

  /// Returns whether installing the project may create the program: its metadata names it, or is
  /// code.
  bool is_of_the_package(const std::string& name) const {
    if (!project_.package || !project_.package->installs) {
      return false;
    }
    const project::Findings findings{plan_.working_directory(), project_.ignore};
    return findings.is_file("setup.py") || project::console_scripts(findings).contains(name);
  }

  void check_program(const std::vector<std::string>& words, const std::string& origin) {
    if (words.empty() || is_everywhere(words.front())) {
      return;
    }
    const auto launcher = project::find_launcher(words);
    if (launcher && launcher->module) {
      if (!project::is_standard_module(*launcher->module)) {
        check_module(std::string{*launcher->module}, origin, words.front());
      }
      return;
    }
    if (project::is_interpreter(words.front())) {
      return;
    }
    const std::string name = base_name(words.front());
    if (is_of_the_package(name)) {
      return;
    }
    const bool is_mpi = name == "mpirun" || name == "mpiexec";
    if (is_mpi && is_installed_by_apt("openmpi-bin,mpich,libopenmpi-dev")) {
      return;
    }
    const auto& names = named().names;
    if (contains(names, name)) {
      return;
    }
    const auto there = base_holds({"program:" + name});
    if (there.value_or(false)) {
      return;
    }
    // Programs that packages of apt or pip install under another name are unknown.
    const bool surely = there && plan_.dependencies.empty();
    std::vector<std::string> hints;
    if (is_mpi) {
      hints.emplace_back("--system-packages=openmpi-bin");
    } else if (const auto near = project::nearest_launcher(name); near && near != name) {
      hints.push_back(fmt::format("did you mean `{}`?", *near));
    }
    warn(surely,
         there ? fmt::format("the executor image has no `{}`", printable(name))
               : fmt::format("whether the image will have `{}` cannot be checked", printable(name)),
         origin, std::move(hints));
  }

  /// Checks a module that must come from a requirement or the executor image; `program` comes with
  /// it.
  void check_module(const std::string& module,
                    const std::string& origin,
                    const std::string& program = {}) {
    const std::string first = module.substr(0, module.find('.'));
    if (project::is_standard_module(first) || project::is_brought_by(module, named().names) ||
        (plan_.dependencies.install && plan_.dependencies.resolves)) {
      return;
    }
    const auto there = base_holds({first});
    if (there.value_or(false)) {
      return;
    }
    const std::string subject = program.empty() ? fmt::format("module `{}`", printable(module))
                                                : fmt::format("`{}`, which provides `{}`,",
                                                              printable(first), printable(program));
    const std::vector<std::string> hints{
        "a requirement that provides it: `--requirements=NAME`, or an executor image that has it"};
    if (there && plan_.dependencies.empty()) {
      warn(origin == "python-module" || origin == "launcher" || origin == "command",
           fmt::format("{} is neither in the project nor in the executor image", subject), origin,
           hints);
    } else if (there && named().certain) {
      warn(false,
           fmt::format("{} is not in the executor image, and no requirement names it", subject),
           origin, hints);
    } else {
      warn(false, fmt::format("whether the image will have {} cannot be checked", subject), origin,
           hints);
    }
  }

  void check_started(const project::Started& started) {
    if (started.kind == project::EntryKind::installed_module) {
      check_module(started.value, started.origin);
      return;
    }
    if (!started.file) {
      report(Severity::warning, fmt::format("{}, which does not exist", runs(started)),
             started.origin, ways_to_find(started));
      if (started.origin == "command" && started.kind == project::EntryKind::shell_script) {
        problems_.back() = project::certain(std::move(problems_.back()));
      }
    } else if (const auto rule = project_.ignore.excludes(*started.file)) {
      report(Severity::warning,
             fmt::format("{}, which the rule `{}` leaves out of the image", runs(started),
                         printable(rule->pattern)),
             started.origin, {source::bring_back_command(*started.file, false, *rule)});
    } else if (const auto* const file = entry_in_image(plan_, *started.file); file == nullptr) {
      report(Severity::warning, fmt::format("{}, which is not in the image", runs(started)),
             started.origin, {});
    } else {
      check_signals(started, *file);
    }
  }

  /// A shell waits for its child to end before it looks at a signal, and does not pass it on.
  void check_signals(const project::Started& started, const ContextEntry& file) {
    const bool is_python = started.kind != project::EntryKind::shell_script;
    if (!is_python || !started.is_child || plan_.entry.kind != project::EntryKind::shell_script) {
      return;
    }
    const auto text = plan_.read(file);
    const auto* const script = entry_in_image(plan_, plan_.entry.file.value_or(""));
    const bool handles = text.find("SIGTERM") != std::string::npos &&
                         text.find("signal.signal(") != std::string::npos;
    if (handles && script != nullptr && plan_.read(*script).find("trap ") == std::string::npos) {
      report(Severity::warning,
             fmt::format("`{}` handles SIGTERM and never gets it: the shell that runs it does not "
                         "pass signals on",
                         printable(*started.file)),
             started.origin,
             {"`exec` before the command, the script's last and not in a pipe, lets the program "
              "take the shell's place"});
    }
  }

  /// Suggests how to start the entry in its own directory, if `started` is there.
  std::vector<std::string> ways_to_find(const project::Started& started) const {
    const std::string script = plan_.entry.file.value_or("");
    const std::string directory = parent_path(script);
    const bool is_module = started.kind == project::EntryKind::module;
    const bool is_beside = plan_.entry.kind == project::EntryKind::shell_script &&
                           !directory.empty() && !is_module &&
                           entry_in_image(plan_, join_path(directory, started.value)) != nullptr;
    if (!is_beside) {
      return {};
    }
    return {
        fmt::format("`--command={}` starts the script in its own directory",
                    shell_quote(fmt::format("env,-C,{},bash,{}", directory, base_name(script))))};
  }

  static std::string runs(const project::Started& started) {
    return started.kind == project::EntryKind::module
               ? fmt::format("`python -m {}` is run here", printable(started.value))
               : fmt::format("`{}` is run here", printable(started.value));
  }

  /// Checks programs that shell scripts run from PATH. Does not report unknown ones.
  void check_used(std::vector<project::UsedProgram> used) {
    const auto count = std::ranges::count_if(used, starts_python);
    std::erase_if(used, [&](const project::UsedProgram& one) {
      const bool is_command =
          plan_.entry.kind == project::EntryKind::program && plan_.entry.words.front() == one.name;
      return (is_command && !project::is_interpreter(one.name)) || may_be_installed(one);
    });
    std::vector<std::string> names;
    for (const auto& one : used) {
      names.push_back("program:" + one.name);
    }
    const auto known = in_base_ && !names.empty() ? in_base_(names) : std::map<std::string, bool>{};
    std::erase_if(used, [&](const project::UsedProgram& one) {
      const auto there = known.find("program:" + one.name);
      return there == known.end() || there->second;
    });
    const bool has_other_python = std::ranges::count_if(used, starts_python) < count;
    for (const auto& one : used) {
      report_missing(one);
      if (starts_python(one) && is_of_entry(one) && !has_other_python) {
        problems_.back() = project::certain(std::move(problems_.back()));
      }
    }
  }

  static bool starts_python(const project::UsedProgram& used) { return used.starts_python; }

  /// Returns whether the command or script of the entry uses it.
  bool is_of_entry(const project::UsedProgram& used) const {
    return used.origin == "command" || used.origin.starts_with(plan_.entry.value + ":");
  }

  /// Returns whether the installation may install the program in `used`.
  bool may_be_installed(const project::UsedProgram& used) {
    const auto& dependencies = plan_.dependencies;
    if (project::is_in_packages(used.name, dependencies.apt_packages).value_or(true)) {
      return true;
    }
    if (project::is_interpreter(used.name) || project::package_of_program(used.name)) {
      return false;
    }
    if (is_of_the_package(used.name)) {
      return true;
    }
    if (!dependencies.needs_pip()) {
      return used.after_pip;
    }
    const auto distribution = project::distribution_of_program(used.name);
    if (!distribution || used.after_pip || !named().certain ||
        (dependencies.install && dependencies.resolves)) {
      return true;
    }
    const auto& all = named().names;
    return contains(all, *distribution) || project::is_brought_by(*distribution, all);
  }

  void report_missing(const project::UsedProgram& used) {
    std::vector<std::string> hints;
    if (project::is_interpreter(used.name)) {
      if (plan_.python && *plan_.python != used.name) {
        hints.push_back(fmt::format("`{}`, which the image has", *plan_.python));
      }
      if (used.name == "python" && plan_.base.apt) {
        hints.emplace_back("--system-packages=python-is-python3");
      }
    } else if (const auto package = project::package_of_program(used.name);
               package && plan_.base.apt) {
      hints.push_back(fmt::format("--system-packages={}", *package));
    } else if (const auto distribution = project::distribution_of_program(used.name)) {
      hints.push_back(fmt::format("--requirements={}", *distribution));
    }
    const bool has_requirements =
        plan_.dependencies.needs_pip() && project::distribution_of_program(used.name).has_value();
    report(Severity::warning,
           fmt::format("`{}` is run here, and the executor image does not have it{}",
                       printable(used.name),
                       has_requirements ? ", and no requirement provides it" : ""),
           used.origin, std::move(hints));
  }

  void check_need(const project::SystemNeed& need) {
    if (is_installed_by_apt(need.packages)) {
      return;
    }
    const auto there = base_holds(need.any_of);
    if (there.value_or(false)) {
      return;
    }
    std::vector<std::string> hints;
    if (!need.packages.empty()) {
      hints.push_back(fmt::format("--system-packages={}", need.packages));
    }
    if (need.other_hint) {
      hints.push_back(*need.other_hint);
    }
    const bool stops = there && need.stops_build;
    report(stops ? Severity::error : Severity::warning,
           there ? fmt::format("{}, and the executor image does not have it", need.message)
                 : fmt::format("{}: autopack could not see whether the executor image has it",
                               need.message),
           need.origin, std::move(hints));
  }

  const ReadablePlan& plan_;
  const project::Project& project_;
  project::Installation installation_;
  const BaseContents& in_base_;
  std::optional<project::NamedDistributions> named_;
  Problems problems_;
};

}  // namespace

Problems start_advice(const ReadablePlan& plan,
                      const project::Project& project,
                      project::Installation installation,
                      const BaseContents& in_base) {
  if (plan.user_dockerfile) {
    return {};
  }
  return StartCheck{plan, project, installation, in_base}.run();
}

}  // namespace autopack::plan
