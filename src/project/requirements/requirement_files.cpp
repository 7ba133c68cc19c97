#include "project/requirements/requirement_files.hpp"

#include "base/contains.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/code/setup_py.hpp"
#include "project/findings.hpp"
#include "project/requirements/conda_environment.hpp"
#include "project/requirements/locks.hpp"
#include "project/requirements/own_lock.hpp"
#include "project/requirements/requirement_lines.hpp"
#include "project/toml.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

namespace {

/// What determines the installation beside an unused file.
enum class UnreadBeside {
  nothing,  ///< nothing
  package,  ///< the project's own package
};

struct Unread {
  const char* file;
  const char* remedy;  ///< installs it, or converts it to something that is read
  bool is_for_packages{true};
};

/// From each tool's own `--help`.
constexpr std::array unread{
    Unread{"Pipfile", "pipenv lock", false},
    Unread{"requirements.lock", "--requirements-file=requirements.lock"},
    Unread{"conda-lock.yml", nullptr},
    Unread{"conda-lock.yaml", nullptr},
    Unread{"pixi.lock", nullptr},
    Unread{"pixi.toml", nullptr},
};

/// Adds a line of the pip part.
void add_pip_line(RequirementSources& sources,
                  const std::string& line,
                  const std::string& file,
                  int number) {
  const auto origin = fmt::format("{}:{}", file, number);
  for (const std::string_view option : {"-e ", "--editable ", "--editable="}) {
    if (line.starts_with(option)) {
      sources.requirements.emplace_back(trim(std::string_view{line}.substr(option.size())), origin);
      return;
    }
  }
  if (line.starts_with('-')) {
    sources.pip_lines.push_back({.text = line, .file = file, .line = number});
  } else {
    sources.requirements.emplace_back(line, origin);
  }
}

/// Returns true if the text of a pyproject.toml lists the package's dependencies, or leaves them to
/// its build.
bool declares_dependencies(const std::string& pyproject) {
  try {
    const toml::table document = parse_toml(pyproject);
    const auto project = document["project"];
    const auto* const dynamic = project["dynamic"].as_array();
    const bool is_dynamic =
        dynamic != nullptr && std::ranges::any_of(*dynamic, [](const auto& name) {
          return name.value_or(std::string{}) == "dependencies";
        });
    const auto* const listed = project["dependencies"].as_array();
    const auto* const poetry = document["tool"]["poetry"]["dependencies"].as_table();
    // Poetry's table includes the interpreter.
    return is_dynamic || (listed != nullptr && !listed->empty()) ||
           (poetry != nullptr && poetry->size() > (poetry->contains("python") ? 1U : 0U));
  } catch (const toml::parse_error&) {
    return true;
  }
}

/// Warns about the first unused file of dependencies at the root, with the way to install it. Does
/// nothing if the request names requirements itself.
void report_unread_files(Findings& findings, const Request& request, UnreadBeside beside) {
  if (!request.requirements.empty() || !request.groups.empty()) {
    return;
  }
  const auto* const found = std::ranges::find_if(unread, [&](const Unread& one) {
    return (one.is_for_packages || beside == UnreadBeside::nothing) && findings.is_file(one.file);
  });
  if (found != unread.end()) {
    findings.warn(
        fmt::format("`{}` is there, but nothing of it is installed: autopack reads requirements "
                    "files and the locks of pip, uv, Poetry, PDM and pipenv",
                    found->file),
        "",
        {found->remedy != nullptr ? std::string{found->remedy}
                                  : "write the program's dependencies into a requirements.txt, or "
                                    "`--requirements=NAME,...`"});
  }
}

/// For a project without requirement files: returns the requirements in conda's environment file
/// that pip can install, with their places, and those for conda. Unless the request names
/// requirements itself, reports other files (`Pipfile`, lock files) with the command that converts
/// them to requirements.
RequirementSources other_dependencies(Findings& findings, const Request& request) {
  if (const auto file = find_conda_environment(findings)) {
    RequirementSources sources;
    auto environment =
        read_conda_environment(findings.tree().read(findings.follow(*file).entry.path));
    for (const auto& [line, number] : environment.pip) {
      add_pip_line(sources, line, *file, number);
    }
    if (request.requirements.empty() && request.groups.empty()) {
      sources.conda = CondaRequest{.file = *file, .packages = std::move(environment.packages)};
    }
    return sources;
  }
  report_unread_files(findings, request, UnreadBeside::nothing);
  return {};
}

using Strings = std::vector<std::string>;

const std::string usual_name = "requirements.txt";

/// Returns the requested files without duplicates; a path outside the tree is an error.
std::vector<std::string> named_files(Findings& findings, const Request& request) {
  std::vector<std::string> files;
  for (const auto& text : request.requirement_files) {
    const auto path = path_in_tree(request, text);
    if (!path) {
      findings.error(fmt::format("`{}` leads out of the working directory", printable(text)),
                     "requirements-file");
    } else if (!contains(files, *path)) {
      files.push_back(*path);
    }
  }
  return files;
}

/// Returns the directories from that of `file` up to the root, excluding the root.
std::vector<std::string> directories_above(const std::string& file) {
  std::vector<std::string> directories;
  for (auto path = parent_path(file); !path.empty(); path = parent_path(path)) {
    directories.push_back(path);
  }
  return directories;
}

std::vector<std::string> entry_directories(const Request& request) {
  return directories_above(request.module   ? replace_all(*request.module, ".", "/")
                           : request.script ? path_in_tree(request, *request.script).value_or("")
                                            : std::string{});
}

/// Returns `gpu` for `requirements-gpu.txt` and `requirements/gpu.txt`; nothing for another file.
std::optional<std::string> purpose_of(const std::string& path) {
  std::string name = to_lower(base_name(path));
  if (!name.ends_with(".txt")) {
    return std::nullopt;
  }
  name.resize(name.size() - 4);
  if (base_name(parent_path(path)) == "requirements") {
    return name;
  }
  for (const std::string_view start : {"requirements", "requirement"}) {
    if (name.starts_with(start)) {
      const std::string rest = name.substr(start.size());
      return rest.empty()                     ? std::optional{std::string{"base"}}
             : rest.find_first_of("-_.") == 0 ? std::optional{rest.substr(1)}
                                              : std::nullopt;
    }
  }
  if (name.ends_with("-requirements") || name.ends_with("_requirements")) {
    return name.substr(0, name.size() - 13);
  }
  return std::nullopt;
}

/// Returns false for purposes that the program does not need to run.
bool is_for_running(const std::string& purpose) {
  static constexpr std::array<std::string_view, 20> others{
      "dev",   "develop", "development", "test",  "tests",    "testing", "doc",
      "docs",  "lint",    "linting",     "style", "format",   "ci",      "build",
      "types", "typing",  "mypy",        "bench", "notebook", "release"};
  const auto words = split(replace_all(replace_all(purpose, "_", "-"), ".", "-"), '-');
  return std::ranges::none_of(words,
                              [&](const std::string& word) { return contains(others, word); });
}

bool is_base(const std::string& purpose) {
  static constexpr std::array<std::string_view, 10> names{
      "base",         "main",    "core",    "common", "default",
      "requirements", "install", "runtime", "prod",   "production"};
  return contains(names, purpose);
}

/// Returns the possible requirement files of the program in a directory, and in its
/// `requirements/`.
std::vector<std::string> fitting_files(const Findings& findings, const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& place : {directory, join_path(directory, "requirements")}) {
    for (const auto& entry : findings.tree().list(place)) {
      const auto purpose = purpose_of(entry.path);
      if (purpose && is_for_running(*purpose) && findings.is_file(entry.path) &&
          !findings.is_ignored(entry.path)) {
        files.push_back(entry.path);
      }
    }
  }
  return files;
}

std::string flag_for(const std::vector<std::string>& files) {
  return fmt::format("--requirements-file={}", shell_quote(join(files, ",")));
}

/// Returns the only matching file, or the one that the others extend, by its name.
std::vector<std::string> choose(Findings& findings, const std::vector<std::string>& files) {
  if (files.size() < 2) {
    return files;
  }
  std::vector<std::string> bases;
  std::ranges::copy_if(files, std::back_inserter(bases),
                       [](const auto& file) { return is_base(purpose_of(file).value_or("")); });
  if (bases.size() != 1) {
    findings.warn(
        fmt::format("several files list the program's dependencies, and none is installed: "
                    "`{}`",
                    join(files, "`, `")),
        "", {flag_for({files.front()})});
    return {};
  }
  std::vector<std::string> rest;
  std::ranges::copy_if(files, std::back_inserter(rest),
                       [&](const auto& file) { return file != bases.front(); });
  findings.warn(fmt::format("`{}` is installed, `{}` {} not", bases.front(), join(rest, "`, `"),
                            rest.size() == 1 ? "is" : "are"),
                "", {flag_for({bases.front(), rest.front()})});
  return bases;
}

std::string read_at_root(const Findings& findings, const char* name) {
  const Place place = findings.follow(name);
  return place.is_file() ? findings.tree().read(place.entry.path) : std::string{};
}

/// Returns the distributions that installing the project's own package installs, as far as its
/// files list them.
std::vector<std::string> names_of_package(const Findings& findings, const Project& project) {
  std::vector<std::string> texts = read_setup_py(read_at_root(findings, "setup.py")).literals;
  const auto ini = parse_ini(read_at_root(findings, "setup.cfg"));
  if (const auto lines = find_option(ini, "options", "install_requires")) {
    const auto more = split(*lines, '\n');
    texts.insert(texts.end(), more.begin(), more.end());
  }
  std::vector<std::string> names;
  if (project.package->requirements) {
    for (const auto& requirement : *project.package->requirements) {
      if (requirement.parts.name) {
        names.push_back(*requirement.parts.name);
      }
    }
  }
  for (const auto& text : texts) {
    if (auto name = python::parse_requirement(text).name) {
      names.push_back(std::move(*name));
    }
  }
  return names;
}

/// Returns `tune`, `big` for `tune_big.py`, and the words of the directories above it.
std::vector<std::string> words_of_entry(const Request& request) {
  std::string path = request.module   ? replace_all(*request.module, ".", "/")
                     : request.script ? path_in_tree(request, *request.script).value_or("")
                                      : std::string{};
  if (path.ends_with(".py") || path.ends_with(".sh")) {
    path.resize(path.size() - 3);
  }
  for (char& letter : path) {
    letter = letter == '/' || letter == '-' || letter == '.' ? '_' : letter;
  }
  auto words = split(to_lower(path), '_');
  std::erase_if(words, [](const std::string& word) { return word.size() < 3; });
  return words;
}

/// Returns true if `file` belongs to the entry by its name: `requirements_big.txt` for
/// `tune_big.py`.
bool is_named_for(const std::string& file, const std::vector<std::string>& entry_words) {
  const auto purpose = replace_all(replace_all(purpose_of(file).value_or(""), "-", "_"), ".", "_");
  const auto words = split(purpose, '_');
  return std::ranges::any_of(words,
                             [&](const std::string& word) { return contains(entry_words, word); });
}

/// Returns requirement files at the root and near the entry, without those in `used`.
std::vector<std::string> other_files(const Findings& findings,
                                     const std::vector<std::string>& directories,
                                     const std::vector<std::string>& used) {
  std::vector<std::string> files;
  auto places = directories;
  places.emplace_back();
  for (const auto& directory : places) {
    for (auto& file : fitting_files(findings, directory)) {
      if (!contains(used, file)) {
        files.push_back(std::move(file));
      }
    }
  }
  return files;
}

/// Reports files near the entry, or with its name, that name more than is installed.
void report_files_of_entry(Findings& findings,
                           const Request& request,
                           const std::vector<std::string>& others,
                           const std::vector<std::string>& installed,
                           bool by_package) {
  const auto words = words_of_entry(request);
  for (const auto& file : others) {
    const bool is_beside = !parent_path(file).empty() && base_name(file) == usual_name;
    if (!is_beside && !is_named_for(file, words)) {
      continue;
    }
    const auto names = names_in_requirements(findings.tree(), file);
    const auto more = std::ranges::find_if(
        names, [&](const std::string& name) { return !contains(installed, name); });
    if (more == names.end()) {
      continue;
    }
    findings.warn(
        fmt::format("{} is installed, `{}`, which names `{}` too, is not",
                    by_package ? "what the project's package requires" : "`" + usual_name + "`",
                    printable(file), *more),
        "", {by_package ? flag_for({file}) : flag_for({usual_name, file})});
  }
}

/// Returns true if installing the project's own package installs its dependencies.
bool package_says(const Findings& findings, const Project& project) {
  if (!project.package) {
    return false;
  }
  return declares_dependencies(read_at_root(findings, "pyproject.toml")) ||
         find_option(parse_ini(read_at_root(findings, "setup.cfg")), "options",
                     "install_requires") ||
         read_setup_py(read_at_root(findings, "setup.py")).words.contains("install_requires");
}

std::vector<RequirementLine> lines_of(const Findings& findings,
                                      const std::vector<std::string>& files) {
  std::vector<RequirementLine> lines;
  for (const auto& file : files) {
    const Place place = findings.follow(file);
    const auto text =
        place.is_file() ? decode_requirements(findings.tree().read(place.entry.path)).text : "";
    std::ranges::move(split_requirements(text), std::back_inserter(lines));
  }
  return lines;
}

bool is_pin_or_other(const python::Requirement& requirement) {
  const auto& rest = requirement.rest;
  return requirement.kind != python::Requirement::Kind::named ||
         (rest.starts_with("==") && rest.find('*') == std::string::npos);
}

/// Returns the requirement files that were found, or a lock that satisfies them.
RequirementSources found_files(Findings& findings,
                               const Request& request,
                               std::vector<std::string> files) {
  const auto lines = lines_of(findings, files);
  FoundRequirements found{.files = std::move(files)};
  for (const auto& line : lines) {
    if (line.requirement) {
      found.requirements.push_back(python::parse_requirement(*line.requirement));
    }
  }
  if (std::ranges::all_of(found.requirements, is_pin_or_other)) {
    return {.files = std::move(found.files)};
  }
  found.may_be_replaced =
      std::ranges::all_of(lines, [](const auto& line) { return line.options.empty(); }) &&
      !declares_dependencies(read_at_root(findings, "pyproject.toml"));
  if (auto lock = lock_beside(findings, request, found)) {
    return {.lock = std::move(lock)};
  }
  return {.files = std::move(found.files)};
}

}  // namespace

std::vector<std::string> unused_requirement_files(const Findings& findings,
                                                  const Project& project) {
  auto used = project.requirement_files;
  used.insert(used.end(), project.requirement_inputs.begin(), project.requirement_inputs.end());
  return other_files(findings, directories_above(project.entry.file.value_or("")), used);
}

std::vector<std::string> names_in_requirements(const source::Tree& tree, const std::string& file) {
  const Place place = Findings{tree, source::Selection{}}.follow(file);
  std::vector<std::string> names;
  if (place.is_file()) {
    const auto text = decode_requirements(tree.read(place.entry.path)).text;
    for (const auto& line : split_requirements(text)) {
      if (auto name =
              line.requirement ? python::parse_requirement(*line.requirement).name : std::nullopt) {
        names.push_back(std::move(*name));
      }
    }
  }
  return names;
}

RequirementSources find_requirements(Findings& findings,
                                     const Request& request,
                                     const Project& project) {
  if (names_lock(request)) {
    return {.lock = named_lock(findings, request)};
  }
  if (!request.requirement_files.empty()) {
    return {.files = named_files(findings, request)};
  }
  if (auto lock = own_lock(findings, request)) {
    return {.lock = std::move(lock)};
  }
  auto directories = entry_directories(request);
  const Place usual = findings.follow(usual_name);
  if (usual.is_file() || usual.kind == Place::Kind::leaves) {
    const auto others = other_files(findings, directories, {usual_name});
    report_files_of_entry(findings, request, others,
                          names_in_requirements(findings.tree(), usual_name), false);
    return found_files(findings, request, {usual_name});
  }
  if (package_says(findings, project)) {
    const auto others = other_files(findings, directories, {});
    report_files_of_entry(findings, request, others, names_of_package(findings, project), true);
    RequirementSources sources{.lock = found_lock(findings, request, project)};
    if (!sources.lock) {
      report_unread_files(findings, request, UnreadBeside::package);
    }
    return sources;
  }
  directories.emplace_back();
  for (const auto& directory : directories) {
    const auto files = fitting_files(findings, directory);
    if (!files.empty()) {
      return found_files(findings, request, choose(findings, files));
    }
  }
  if (!find_conda_environment(findings)) {
    if (auto lock = found_lock(findings, request, project)) {
      return {.lock = std::move(lock)};
    }
  }
  return other_dependencies(findings, request);
}

}  // namespace autopack::project
