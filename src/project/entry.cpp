#include "project/entry.hpp"

#include "base/text.hpp"
#include "project/python_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::project {

namespace {

std::string module_of(std::string_view script) {
  if (script.ends_with("/__main__.py")) {
    script.remove_suffix(std::string_view{"/__main__.py"}.size());
  } else if (script.ends_with(".py")) {
    script.remove_suffix(3);
  }
  return replace_all(std::string{script}, "/", ".");
}

std::vector<std::string> scripts_of(const Findings& findings) {
  std::vector<std::string> scripts = findings.files_below("");
  std::erase_if(scripts, [](const std::string& path) {
    return !path.ends_with(".py") && !path.ends_with(".sh") && path.find('.') != std::string::npos;
  });
  return scripts;
}

std::string option(const char* flag, const std::string& value) {
  return fmt::format("{} {}", flag, shell_quote(value));
}

void report_missing_script(Findings& findings, const std::string& script) {
  const std::string as_module = replace_all(script, ".", "/");
  if (findings.is_file(as_module + ".py") || findings.is_file(as_module + "/__main__.py")) {
    findings.error(fmt::format("script `{}` does not exist; it names a module", printable(script)),
                   "script", {option("--python-module", script)});
    return;
  }
  findings.error(fmt::format("script `{}` does not exist", printable(script)), "script",
                 Findings::suggest(script, scripts_of(findings)));
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

Entry find_script(Findings& findings, const Request& request) {
  Entry entry;
  const auto path = path_in_tree(request, request.script);
  if (!path) {
    findings.error(
        fmt::format("script `{}` leads out of the working directory", printable(request.script)),
        "script");
    return entry;
  }
  const Place place = findings.follow(*path);
  if (place.kind == Place::Kind::leaves) {
    findings.error(fmt::format("script `{}` leads out of the working directory by a symbolic link",
                               printable(*path)),
                   "script");
  } else if (place.is_directory()) {
    report_directory(findings, *path);
  } else if (!place.is_file()) {
    report_missing_script(findings, *path);
  } else {
    findings.require_included(place.entry.path, "the script");
    // Python takes the directory of the file itself, links followed, as the first import path.
    entry.value = place.entry.path;
    entry.file = place.entry.path;
  }
  entry.kind = request.script.ends_with(".py") ? EntryKind::python_script : EntryKind::shell_script;
  return entry;
}

/// The file that `python -m module` runs below `root`; empty when there is none.
std::string module_file(const Findings& findings,
                        const std::string& root,
                        const std::string& module) {
  const std::string path = join_path(root, replace_all(module, ".", "/"));
  const bool is_package = findings.is_file(path + "/__init__.py");
  if (!is_package && findings.is_file(path + ".py")) {
    return path + ".py";
  }
  return findings.is_file(path + "/__main__.py") ? path + "/__main__.py" : std::string{};
}

std::vector<std::string> modules_of(const Findings& findings, const std::string& root) {
  std::vector<std::string> modules;
  for (const auto& file : findings.files_below(root)) {
    if (file.ends_with(".py") && !file.ends_with("__init__.py") && file != "setup.py") {
      modules.push_back(module_of(root.empty() ? file : file.substr(root.size() + 1)));
    }
  }
  return modules;
}

/// False, with an error found, when `module` is no dotted name.
bool check_module_name(Findings& findings, const std::string& module) {
  if (findings.is_file(source::normalise(module).value_or("")) ||
      module.find('/') != std::string::npos) {
    const bool exists = findings.is_file(source::normalise(module).value_or(""));
    findings.error(fmt::format("module `{}` is a path, not a dotted name", printable(module)),
                   "python-module",
                   exists ? std::vector{option("--script", module)}
                          : std::vector{option("--python-module", module_of(module))});
    return false;
  }
  const auto parts = split(module, '.');
  const auto bad = std::find_if_not(parts.begin(), parts.end(), is_identifier);
  if (bad != parts.end()) {
    findings.error(fmt::format("module `{}` is no dotted name: `{}` is no identifier",
                               printable(module), printable(*bad)),
                   "python-module");
    return false;
  }
  return true;
}

void report_missing_module(Findings& findings, const std::string& module, const std::string& root) {
  const std::string path = replace_all(module, ".", "/");
  if (findings.is_directory(path) ||
      (!root.empty() && findings.is_directory(join_path(root, path)))) {
    findings.error(fmt::format("package `{}` cannot be run: it has no `__main__.py`", module),
                   "python-module",
                   Findings::suggest(module + ".task", modules_of(findings, root)));
    return;
  }
  if (root != "src" && !module_file(findings, "src", module).empty()) {
    findings.error(fmt::format("module `{}` is below `src`, where Python does not look", module),
                   "python-module", {option("--script", module_file(findings, "src", module))});
    return;
  }
  auto modules = modules_of(findings, "");
  if (!root.empty()) {
    const auto more = modules_of(findings, root);
    modules.insert(modules.end(), more.begin(), more.end());
  }
  auto hints = Findings::suggest(module, modules);
  const auto same_end = std::find_if(modules.begin(), modules.end(), [&](const std::string& other) {
    return other.ends_with("." + module);
  });
  if (same_end != modules.end()) {
    hints = {fmt::format("did you mean `{}`?", *same_end)};
  }
  findings.error(fmt::format("module `{}` does not exist", module), "python-module",
                 std::move(hints));
}

Entry find_module(Findings& findings, const Request& request, const std::string& import_root) {
  Entry entry{EntryKind::module, request.module, {}};
  if (!check_module_name(findings, request.module)) {
    return entry;
  }
  entry.file = module_file(findings, "", request.module);
  if (entry.file.empty() && !import_root.empty()) {
    entry.file = module_file(findings, import_root, request.module);
  }
  if (entry.file.empty()) {
    report_missing_module(findings, request.module, import_root);
    return entry;
  }
  const Place place = findings.follow(entry.file);
  findings.require_included(entry.file, "the module");
  for (const auto& link : place.links) {
    findings.require_included(link, "the module");
  }
  return entry;
}

}  // namespace

std::optional<std::string> path_in_tree(const Request& request, const std::string& path) {
  if (!path.starts_with('/')) {
    return source::normalise(path);
  }
  std::error_code code;
  const auto root =
      std::filesystem::weakly_canonical(std::filesystem::absolute(request.directory, code), code);
  const auto place = std::filesystem::weakly_canonical(path, code);
  const auto relative = place.lexically_relative(root);
  return code || relative.empty() ? std::nullopt : source::normalise(relative.generic_string());
}

Entry find_entry(Findings& findings, const Request& request, const std::string& import_root) {
  return request.module.empty() ? find_script(findings, request)
                                : find_module(findings, request, import_root);
}

}  // namespace autopack::project
