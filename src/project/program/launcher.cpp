#include "project/program/launcher.hpp"

#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/requirements/requirement_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

struct LauncherRow {
  std::string_view name{};  ///< the program, or the module after `python -m`
  Launcher launcher{};
};

/// From each program's own `--help`.
constexpr std::array programs{
    LauncherRow{"torchrun", {.module = "torch", .starts_python = true, .module_flag = "-m"}},
    LauncherRow{"accelerate",
                {.module = "accelerate",
                 .starts_python = true,
                 .module_flag = "-m",
                 .subcommand = "launch"}},
    LauncherRow{"accelerate-launch",
                {.module = "accelerate", .starts_python = true, .module_flag = "-m"}},
    LauncherRow{"deepspeed",
                {.module = "deepspeed", .starts_python = true, .module_flag = "--module"}},
    LauncherRow{"colossalai", {.module = "colossalai", .starts_python = true, .subcommand = "run"}},
    LauncherRow{"fabric", {.module = "lightning", .starts_python = true, .subcommand = "run"}},
    LauncherRow{"composer", {.module = "composer", .starts_python = true, .module_flag = "-m"}},
    LauncherRow{"horovodrun", {.module = "horovod"}},
    LauncherRow{"mpirun", {}},
    LauncherRow{"mpiexec", {}},
    LauncherRow{"srun", {}},
};

constexpr std::array modules{
    LauncherRow{"torch.distributed.run",
                {.module = "torch", .starts_python = true, .module_flag = "-m"}},
    LauncherRow{"torch.distributed.launch",
                {.module = "torch", .starts_python = true, .module_flag = "-m"}},
    LauncherRow{"accelerate.commands.launch",
                {.module = "accelerate", .starts_python = true, .module_flag = "-m"}},
    LauncherRow{"deepspeed.launcher.runner",
                {.module = "deepspeed", .starts_python = true, .module_flag = "--module"}},
};

template <class Rows>
std::optional<Launcher> find_in(const Rows& rows, std::string_view name) {
  const auto found =
      std::ranges::find_if(rows, [&](const LauncherRow& row) { return row.name == name; });
  return found == rows.end() ? std::nullopt : std::optional{found->launcher};
}

}  // namespace

bool is_interpreter(std::string_view program) {
  const auto name = program.substr(program.rfind('/') + 1);
  return name.starts_with("python") &&
         name.substr(6).find_first_not_of("0123456789.") == std::string_view::npos;
}

std::optional<Launcher> find_launcher(std::span<const std::string> words) {
  if (words.empty()) {
    return std::nullopt;
  }
  if (!is_interpreter(words.front())) {
    return find_in(programs, base_name(words.front()));
  }
  const auto dash = std::ranges::find(words, "-m");
  if (dash != words.end() && dash + 1 != words.end()) {
    if (const auto known = find_in(modules, *(dash + 1))) {
      return known;
    }
    return Launcher{.module = *(dash + 1), .starts_python = true};
  }
  return Launcher{.starts_python = true, .module_flag = "-m"};
}

std::optional<std::string> nearest_launcher(std::string_view program) {
  std::vector<std::string> names;
  for (const LauncherRow& row : programs) {
    names.emplace_back(row.name);
  }
  return nearest(program, names);
}

std::vector<std::string> read_launcher(Findings& findings,
                                       const Request& request,
                                       const Entry& entry) {
  const std::string origin = "launcher";
  if (!request.launcher || trim(*request.launcher).empty()) {
    return {};
  }
  auto words = split_words(*request.launcher);
  if (!words || words->empty()) {
    findings.error(fmt::format("`{}` has a quote that is not closed", printable(*request.launcher)),
                   origin);
    return {};
  }
  const auto launcher = find_launcher(*words);
  if (!launcher) {
    return *words;
  }
  const bool lacks_subcommand =
      launcher->subcommand && (words->size() == 1 || (*words)[1] != *launcher->subcommand);
  if (lacks_subcommand) {
    words->insert(words->begin() + 1, std::string{*launcher->subcommand});
  }
  const bool is_module =
      entry.kind == EntryKind::module || entry.kind == EntryKind::installed_module;
  const bool is_file = entry.kind == EntryKind::python_script;
  if (launcher->starts_python && !is_file && !is_module) {
    findings.error(
        fmt::format("`{}` starts Python, and `{}` is {}", words->front(), printable(entry.value),
                    entry.kind == EntryKind::shell_script ? "run by bash" : "a program"),
        origin, {"name the Python file with `--script`, or leave the launcher out"});
  } else if (launcher->starts_python && is_module && !launcher->module_flag) {
    findings.error(fmt::format("`{}` takes a file, not a module", words->front()), origin,
                   {fmt::format("--script={}", entry.file ? shell_quote(*entry.file) : "FILE")});
  }
  return *words;
}

}  // namespace autopack::project
