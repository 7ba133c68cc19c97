#include "project/program/entry.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "base/url.hpp"
#include "project/package/console_scripts.hpp"
#include "project/program/launcher.hpp"
#include "project/program/modules.hpp"
#include "project/program/named_distributions.hpp"
#include "project/program/script_language.hpp"
#include "project/tables/known_distributions.hpp"
#include "project/tables/python_names.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace autopack::project {

namespace {

using Strings = std::vector<std::string>;

/// None are listed for a directory with more: a long list does not help.
constexpr std::size_t most_scripts_shown{5};

/// The first line of larger files is not read.
constexpr std::uint64_t largest_to_sniff{500'000};

/// Returns the file that importing `module` runs below `root`; nothing if there is none.
std::optional<std::string> function_file(const Findings& findings,
                                         const std::string& root,
                                         const std::string& module) {
  const std::string path = join_path(root, replace_all(module, ".", "/"));
  for (const auto& file : {path + "/__init__.py", path + ".py"}) {
    if (findings.is_file(file)) {
      return file;
    }
  }
  return std::nullopt;
}

std::vector<std::string> scripts_of(const Findings& findings) {
  std::vector<std::string> scripts = findings.files_below("");
  std::erase_if(scripts, [](const std::string& path) {
    const bool is_script =
        path.ends_with(".py") || path.ends_with(".sh") || path.ends_with(".ipynb");
    return (!is_script && path.find('.') != std::string::npos) || base_name(path) == "setup.py";
  });
  return scripts;
}

std::string option(const char* flag, const std::string& value) {
  return fmt::format("{} {}", flag, shell_quote(value));
}

bool report_obstacle(Findings& findings, const std::string& path, const std::string& origin) {
  const auto place = findings.follow(path);
  if (place.kind != Place::Kind::found || place.entry.obstacle == nullptr) {
    return false;
  }
  const auto& [what, remedy] = *place.entry.obstacle;
  findings.error(fmt::format("`{}` is {}{}", printable(path), remedy ? "" : "a ", what), origin,
                 std::vector<std::string>(remedy ? 1 : 0, std::string{remedy.value_or("")}));
  return true;
}

void report_missing_script(Findings& findings, const std::string& script) {
  if (report_obstacle(findings, script, "script")) {
    return;
  }
  const std::string as_module = replace_all(script, ".", "/");
  if (findings.is_file(as_module + ".py") || findings.is_file(as_module + "/__main__.py")) {
    findings.error(fmt::format("script `{}` does not exist; it names a module", printable(script)),
                   "script", {option("--python-module", replace_all(script, "/", "."))});
    return;
  }
  auto scripts = scripts_of(findings);
  auto hints = Findings::suggest(script, scripts);
  if (hints.empty() && script.find_first_of("./") == std::string::npos) {
    hints.push_back(fmt::format(
        "`--command={}` runs a program that a requirement or the executor image provides",
        shell_quote(script)));
  } else if (hints.empty()) {
    std::erase_if(scripts, [&](const auto& one) {
      return parent_path(one) != parent_path(script) || base_name(one) == "__init__.py" ||
             one.ends_with(".ipynb") || base_name(one).find('.') == std::string::npos;
    });
    if (scripts.size() <= most_scripts_shown) {
      std::ranges::transform(scripts, std::back_inserter(hints),
                             [](const auto& one) { return option("--script", one); });
    }
  }
  findings.error(fmt::format("script `{}` does not exist", printable(script)), "script",
                 std::move(hints));
}

void report_url(Findings& findings, const std::string& script) {
  const std::string name = base_name(script);
  const bool is_in_storage = script.starts_with("gs://");
  findings.error(
      fmt::format("script `{}` is a URL, not a file of the project", printable(redact_url(script))),
      "script",
      {fmt::format("copy it here: `{} {}{} && autopack ... --script={}`",
                   is_in_storage ? "gcloud storage cp" : "curl -fLO",
                   shell_quote(redact_url(script)), is_in_storage ? " ." : "", shell_quote(name))});
}

void report_directory(Findings& findings, const std::string& script) {
  std::vector<std::string> hints;
  if (findings.is_file(join_path(script, "__main__.py"))) {
    hints.push_back(option("--python-module", replace_all(script, "/", ".")));
  } else {
    for (const auto& entry : findings.tree().list(script)) {
      if (entry.path.ends_with(".py") && base_name(entry.path) != "__init__.py") {
        hints.push_back(option("--script", entry.path));
      }
    }
    hints.resize(std::min<std::size_t>(hints.size(), 3));
  }
  findings.error(fmt::format("script `{}` is a directory", printable(script)), "script",
                 std::move(hints));
}

/// Returns the console script `name` that installing the project creates; nothing if there is none.
std::optional<Entry> find_console_script(const Findings& findings,
                                         const std::string& name,
                                         const Project& project) {
  const auto scripts = console_scripts(findings);
  const auto script = scripts.find(name);
  if (script == scripts.end() || !project.package || !project.package->installs) {
    return std::nullopt;
  }
  Entry entry{EntryKind::program, name, {}, {name}, {}};
  for (const auto& root : {project.package->import_root, std::string{}}) {
    if (!entry.file) {
      entry.file = function_file(findings, root, script->second);
    }
  }
  return entry;
}

/// Returns a program on PATH: one that installing the project creates, or a distribution of that
/// name.
std::optional<Entry> find_program(const Findings& findings,
                                  const std::string& name,
                                  const Project& project) {
  if (!is_alphanumeric(name, "-_.") || name.ends_with(".py") || name.ends_with(".sh")) {
    return std::nullopt;
  }
  if (auto script = find_console_script(findings, name, project)) {
    return script;
  }
  const auto named = named_distributions(findings.tree(), project).names;
  const bool is_named = contains(named, python::normalise_name(name));
  return is_named ? std::optional{Entry{EntryKind::program, name, {}, {name}, {}}} : std::nullopt;
}

/// Returns true for a file whose `#!` line names Python.
bool is_for_python(const Findings& findings, const Entry& entry) {
  const auto file = entry.file ? findings.tree().find(*entry.file) : std::nullopt;
  if (!file || file->type != source::EntryType::file || file->size > largest_to_sniff) {
    return false;
  }
  const auto language = language_of(*entry.file, findings.tree().read(*entry.file));
  return language.kind == ScriptLanguage::Kind::python && language.program;
}

Entry find_script(Findings& findings, const Request& request, const Project& project) {
  Entry entry;
  const std::string& script = request.script.value();
  if (script.find("://") != std::string::npos) {
    report_url(findings, script);
    return entry;
  }
  const auto path = path_in_tree(request, script);
  if (!path) {
    findings.error(fmt::format("script `{}` leads out of the working directory", printable(script)),
                   "script");
    return entry;
  }
  const Place place = findings.follow(*path);
  if (place.kind == Place::Kind::leaves) {
    findings.error(fmt::format("script `{}` leads out of the working directory by a symbolic link",
                               printable(*path)),
                   "script");
  } else if (place.is_directory()) {
    // A package often has the same name as its program.
    if (auto program = find_console_script(findings, *path, project)) {
      return *program;
    }
    report_directory(findings, *path);
  } else if (!place.is_file()) {
    if (auto program = find_program(findings, *path, project)) {
      return *program;
    }
    report_missing_script(findings, *path);
  } else {
    findings.require_included(place.entry.path, "the script");
    // The first import path of Python is the directory of the file itself, after following links.
    entry.value = place.entry.path;
    entry.file = place.entry.path;
  }
  entry.kind = script.ends_with(".py") || is_for_python(findings, entry) ? EntryKind::python_script
                                                                         : EntryKind::shell_script;
  return entry;
}

/// Returns `trainer.task` for `./trainer.task`, `trainer/task` and `trainer.task:main`, if it
/// exists; nothing for other text.
std::optional<std::string> module_meant(const Findings& findings,
                                        const std::string& text,
                                        const std::string& root) {
  const auto path = source::normalise(text.substr(0, text.find(':')));
  if (!path || path->empty() || path->find("..") != std::string::npos) {
    return std::nullopt;
  }
  const auto module = module_of_script(*path);
  const bool exists =
      module_file(findings, "", module) || (!root.empty() && module_file(findings, root, module));
  return exists ? std::optional{module} : std::nullopt;
}

/// Reports an error and returns false if `module` is not a dotted name. As in runpy, its parts need
/// not be identifiers if there is such a file.
bool check_module_name(Findings& findings, const std::string& module, const std::string& root) {
  const bool exists = findings.is_file(source::normalise(module).value_or(""));
  const auto meant = module_meant(findings, module, root);
  const auto hints = meant ? std::vector{option("--python-module", *meant)} : Strings{};
  if (exists || module.find('/') != std::string::npos) {
    findings.error(fmt::format("module `{}` is a path, not a dotted name", printable(module)),
                   "python-module", exists ? Strings{option("--script", module)} : hints);
    return false;
  }
  const auto parts = split(module, '.');
  const auto bad = std::ranges::find_if_not(parts, is_identifier);
  const bool is_empty = contains(parts, "");
  if (bad == parts.end() || (!is_empty && meant == module)) {
    return true;
  }
  const auto colon = module.find(':');
  findings.error(
      colon == std::string::npos
          ? fmt::format("module `{}` is not a dotted name: `{}` is not an identifier",
                        printable(module), printable(*bad))
          : fmt::format("module `{}` is not a dotted name: `python -m` runs a module, not its `{}`",
                        printable(module), printable(module.substr(colon + 1))),
      "python-module", hints);
  return false;
}

void report_missing_module(Findings& findings, const std::string& module, const std::string& root) {
  const std::string path = replace_all(module, ".", "/");
  for (const auto& directory : {path, join_path(root, path)}) {
    if (findings.is_directory(directory)) {
      findings.error(fmt::format("package `{}` cannot be run: it has no `__main__.py`", module),
                     "python-module", ways_to_run(findings, module, directory));
      return;
    }
  }
  if (const auto file = module_file(findings, "src", module); file && root != "src") {
    findings.error(fmt::format("module `{}` is below `src`, where Python does not look", module),
                   "python-module", {option("--script", *file)});
    return;
  }
  if (!report_obstacle(findings, join_path(root, path) + ".py", "python-module")) {
    findings.error(fmt::format("module `{}` does not exist", module), "python-module",
                   modules_like(findings, module, root));
  }
}

/// Returns true if `module` may come from a requirement or the executor image: nothing in the tree
/// has its name, and it is not a typo.
bool may_be_installed(const Findings& findings,
                      const std::string& module,
                      const std::string& import_root,
                      const Project& project) {
  const std::string first = module.substr(0, module.find('.'));
  for (const auto& root : {std::string{}, import_root, std::string{"src"}}) {
    const std::string path = join_path(root, first);
    if (findings.is_directory(path) || findings.is_file(path + ".py")) {
      return false;
    }
  }
  return is_standard_module(first) ||
         is_brought_by(module, named_distributions(findings.tree(), project).names) ||
         modules_like(findings, module, import_root).empty();
}

Entry find_module(Findings& findings, const Request& request, const Project& project) {
  const std::string import_root = project.package ? project.package->import_root : std::string{};
  const std::string& module = request.module.value();
  Entry entry{EntryKind::module, module, {}, {}, {}};
  if (!check_module_name(findings, module, import_root)) {
    return entry;
  }
  entry.file = module_file(findings, "", module);
  if (!entry.file && !import_root.empty()) {
    entry.file = module_file(findings, import_root, module);
  }
  if (!entry.file && may_be_installed(findings, module, import_root, project)) {
    entry.kind = EntryKind::installed_module;
    return entry;
  }
  if (!entry.file) {
    report_missing_module(findings, module, import_root);
    return entry;
  }
  const Place place = findings.follow(*entry.file);
  findings.require_included(*entry.file, "the module");
  for (const auto& link : place.links) {
    findings.require_included(link, "the module");
  }
  return entry;
}

}  // namespace

std::optional<std::string> module_file(const Findings& findings,
                                       const std::string& root,
                                       const std::string& module) {
  const std::string path = join_path(root, replace_all(module, ".", "/"));
  const bool is_package = findings.is_file(path + "/__init__.py");
  if (!is_package && findings.is_file(path + ".py")) {
    return path + ".py";
  }
  return findings.is_file(path + "/__main__.py") ? std::optional{path + "/__main__.py"}
                                                 : std::nullopt;
}

void read_entry(Findings& findings, const Request& request, Project& project) {
  if (!request.command.empty()) {
    project.entry = {EntryKind::program, request.command.front(), {}, request.command, {}};
  } else if (request.module) {
    project.entry = find_module(findings, request, project);
  } else {
    project.entry = find_script(findings, request, project);
  }
  project.entry.launcher = read_launcher(findings, request, project.entry);
}

}  // namespace autopack::project
