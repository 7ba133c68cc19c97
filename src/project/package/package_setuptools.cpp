#include "base/contains.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/code/setup_py.hpp"
#include "project/package/package.hpp"
#include "project/package/version_control.hpp"
#include "project/tables/known_distributions.hpp"
#include "project/tables/python_names.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::project {

namespace {

std::string text_of(const Findings& findings, const char* file) {
  return findings.tree().read(findings.follow(file).entry.path);
}

/// The first file that determines the source of versions applies.
void set_version_control(Package& package, VersionControl tool) {
  if (!package.version_control) {
    package.version_control = std::make_shared<const VersionControl>(std::move(tool));
  }
}

void read_setup_cfg(Findings& findings, Package& package) {
  const Ini ini = parse_ini(text_of(findings, "setup.cfg"));
  if (const auto name = find_option(ini, "metadata", "name"); name && !package.name) {
    package.name = non_empty(*name);
  }
  const auto directories = find_option(ini, "options", "package_dir").value_or("");
  for (const auto& item : split(replace_all(directories, ",", "\n"), '\n')) {
    const auto equals = item.find('=');
    if (equals != std::string::npos && trim(std::string_view{item}.substr(0, equals)).empty()) {
      package.import_root =
          source::normalise(trim(std::string_view{item}.substr(equals + 1))).value_or("");
    }
  }
  if (ini.contains("files") || ini.contains("pbr")) {
    set_version_control(package, pbr("setup.cfg"));
  }
}

/// Returns true for modules that builds provide themselves, and for files of the project, also in a
/// directory that `facts` name for `sys.path`.
bool is_there_in_isolation(const Findings& findings,
                           const Package& package,
                           const SetupPy& facts,
                           const std::string& module) {
  static const std::vector<std::string> tools{"setuptools", "pkg_resources", "wheel", "distutils"};
  if (is_standard_module(module) || contains(tools, module) || findings.is_file(module + ".py") ||
      findings.is_directory(module) || findings.is_directory("src/" + module)) {
    return true;
  }
  if (std::ranges::any_of(facts.literals, [&](const std::string& literal) {
        const auto directory = source::normalise(literal);
        return directory && !directory->empty() && findings.is_directory(*directory) &&
               findings.is_file(join_path(*directory, module + ".py"));
      })) {
    return true;
  }
  const auto brought_by = distributions_of(module);
  return std::ranges::any_of(package.build_requirements, [&](const std::string& text) {
    const auto name = python::parse_requirement(text).name;
    return contains(brought_by, name);
  });
}

/// The imports of setup.py decide whether its build can be isolated from installed packages.
void read_build_imports(Findings& findings, Package& package, const SetupPy& facts) {
  static const std::vector<std::string> known{"numpy", "torch", "Cython", "pybind11"};
  for (const auto& module : facts.imports) {
    if (is_there_in_isolation(findings, package, facts, module)) {
      continue;
    }
    package.isolated = false;
    package.missing_import = package.missing_import.value_or(module);
    if (facts.certain_imports.contains(module) && contains(known, module)) {
      package.build_requirements.push_back(to_lower(module));
    }
  }
}

void read_setup_script(Findings& findings, Package& package) {
  const SetupPy facts = read_setup_py(text_of(findings, "setup.py"));
  if (facts.name) {
    package.name = facts.name;
  }
  const auto root = facts.package_directory.find("");
  if (root != facts.package_directory.end()) {
    package.import_root = source::normalise(root->second).value_or("");
  }
  const auto says = [&](const std::string& word) {
    return facts.words.contains(word) || contains(facts.literals, word);
  };
  if (says("use_scm_version")) {
    auto tool = setuptools_scm("setup.py");
    for (const char* const setting :
         {"tag_regex", "version_scheme", "git_describe_command", "fallback_version"}) {
      if (says(setting)) {
        tool.not_followed.emplace_back(setting);
      }
    }
    set_version_control(package, std::move(tool));
  }
  if (says("pbr")) {
    set_version_control(package, pbr("setup.py"));
  }
  read_build_imports(findings, package, facts);
}

}  // namespace

void read_setuptools(Findings& findings, Package& package) {
  if (package.build_requirements.empty()) {
    package.build_requirements = {"setuptools", "wheel"};
  }
  if (findings.is_file("setup.cfg")) {
    read_setup_cfg(findings, package);
  }
  if (findings.is_file("setup.py")) {
    read_setup_script(findings, package);
  }
}

}  // namespace autopack::project
