#include "project/program/system_needs.hpp"

#include "base/ini.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "project/code/setup_py.hpp"
#include "project/findings.hpp"
#include "project/toml.hpp"
#include "python/marker.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>

namespace autopack::project {

namespace {

struct NeedRow {
  std::string_view distribution{};
  std::string_view message{};
  std::array<std::string_view, 2> any_of{};
  std::string_view packages{};
  std::optional<std::string_view> other_hint{};
};

/// Facts from the distributions' own installation guides.
constexpr std::array rows{
    NeedRow{"opencv-python",
            "loads libGL when it is imported",
            {"library:libGL.so.1"},
            "libgl1,libglib2.0-0",
            "`opencv-python-headless` needs no libGL"},
    NeedRow{"opencv-contrib-python",
            "loads libGL when it is imported",
            {"library:libGL.so.1"},
            "libgl1,libglib2.0-0",
            "`opencv-contrib-python-headless` needs no libGL"},
    NeedRow{"mpi4py",
            "needs an MPI library",
            {"program:mpicc", "program:mpirun"},
            "libopenmpi-dev,openmpi-bin",
            {}},
};

std::string file_text(const source::Tree& tree, const char* name) {
  const auto entry = tree.find(name);
  return entry && entry->type == source::EntryType::file ? tree.read(name) : std::string{};
}

std::optional<toml::table> pyproject_of(const source::Tree& tree) {
  try {
    return parse_toml(file_text(tree, "pyproject.toml"));
  } catch (const toml::parse_error&) {
    return std::nullopt;
  }
}

void add_lines(std::vector<std::string>& texts, const std::optional<std::string>& lines) {
  const auto more = split(lines.value_or(""), '\n');
  texts.insert(texts.end(), more.begin(), more.end());
}

/// Returns the declared dependencies of the project's own package, including those of requested
/// extras.
std::vector<std::string> package_requirements(const source::Tree& tree, const Package& package) {
  auto setup_py = read_setup_py(file_text(tree, "setup.py"));
  auto texts = std::move(setup_py.requirements);
  const auto document = pyproject_of(tree).value_or(toml::table{});
  const auto add_all = [&](const toml::node_view<const toml::node>& list) {
    if (const auto* const array = list.as_array()) {
      for (const auto& element : *array) {
        texts.push_back(element.value_or(std::string{}));
      }
    }
  };
  const toml::node_view<const toml::node> project{document["project"]};
  add_all(project["dependencies"]);
  const Ini setup_cfg = parse_ini(file_text(tree, "setup.cfg"));
  add_lines(texts, find_option(setup_cfg, "options", "install_requires"));
  add_lines(texts, find_option(setup_cfg, "options", "setup_requires"));
  for (const auto& extra : package.extras) {
    add_lines(texts, find_option(setup_cfg, "options.extras_require", extra));
    add_all(project["optional-dependencies"][extra]);
    const auto& more = setup_py.extras[extra];
    texts.insert(texts.end(), more.begin(), more.end());
  }
  return texts;
}

constexpr std::size_t shortest_commit{40};

/// Returns true for requirements that Linux does not install.
bool is_for_others(const python::Requirement& requirement) {
  const auto marker =
      requirement.marker ? python::Marker::parse(*requirement.marker) : std::nullopt;
  return marker && marker->holds_in({.variables = {{"os_name", "posix"},
                                                   {"platform_system", "Linux"},
                                                   {"sys_platform", "linux"}}}) == false;
}

std::vector<python::Requirement> all_requirements(const source::Tree& tree,
                                                  const Project& project) {
  std::vector<python::Requirement> all;
  for (const auto& listed : project.listed_requirements) {
    if (!listed.constraint) {
      all.push_back(listed.requirement);
    }
  }
  for (const auto& asked : project.requirements) {
    all.push_back(asked.parts);
  }
  if (project.package) {
    for (const auto& text : package_requirements(tree, *project.package)) {
      all.push_back(python::parse_requirement(text));
    }
  }
  std::erase_if(all, is_for_others);
  return all;
}

/// Returns true for a requirement without a choice: then a git source is fetched on this machine,
/// unless something else requires an installation by pip.
bool leaves_no_choice(const python::Requirement& requirement) {
  switch (requirement.kind) {
    case python::Requirement::Kind::named: return requirement.rest.find("==") != std::string::npos;
    case python::Requirement::Kind::url: {
      const auto& url = requirement.target;
      const auto bare = url.substr(0, url.find('#'));
      const auto commit = bare.substr(std::min(bare.rfind('@'), bare.size() - 1) + 1);
      return !url.starts_with("git+") ||
             (commit.size() >= shortest_commit &&
              commit.find_first_not_of("0123456789abcdef") == std::string::npos);
    }
    default: return true;
  }
}

/// Returns the place of a requirement that fetches `target`; empty if it is not in a file.
std::string place_of(const std::string& target, const Project& project) {
  const auto& all = project.listed_requirements;
  const auto found = std::ranges::find_if(
      all, [&](const auto& listed) { return listed.requirement.target == target; });
  return found == all.end() ? "" : found->origin;
}

/// This machine's git has its user's keys; a build's git has none.
SystemNeed need_of_ssh(const std::string& target) {
  return {.message = fmt::format("`{}` is fetched over SSH", printable(target)),
          .any_of = {"program:ssh"},
          .other_hint =
              "without system packages, `--resolver=engine` and `--engine=docker`, the "
              "git of this machine fetches it, with your keys"};
}

void add_git(std::vector<SystemNeed>& needs,
             const std::vector<python::Requirement>& requirements,
             const Project& project,
             Installation installation) {
  const bool runs_pip =
      installation == Installation::by_pip || (project.package && project.package->installs);
  if (!runs_pip && std::ranges::all_of(requirements, leaves_no_choice)) {
    return;
  }
  std::set<std::string, std::less<>> reported;
  for (const auto& requirement : requirements) {
    const auto target = redact_credentials(requirement.target);
    const bool by_ssh = to_lower(target).starts_with("git+ssh:");
    if (!to_lower(target).starts_with("git+") || !reported.insert(by_ssh ? "ssh" : "git").second) {
      continue;
    }
    auto need =
        by_ssh ? need_of_ssh(target)
               : SystemNeed{.message = fmt::format("`{}` is fetched by git", printable(target)),
                            .any_of = {"program:git"},
                            .packages = "git"};
    need.stops_build = !requirement.marker;
    need.origin = place_of(target, project);
    needs.push_back(std::move(need));
  }
}

/// Reports a repository URL that setup.py computes, and that its requirements do not show.
void add_computed_git(std::vector<SystemNeed>& needs,
                      const source::Tree& tree,
                      const Project& project) {
  const bool is_known =
      std::ranges::any_of(needs, [](const auto& need) { return need.packages == "git"; });
  if (is_known || !project.package || !project.package->installs) {
    return;
  }
  auto facts = read_setup_py(file_text(tree, "setup.py"));
  for (const auto& [extra, requirements] : facts.extras) {
    for (const auto& one : requirements) {
      std::erase(facts.literals, one);  // installed only if requested
    }
  }
  const auto& literals = facts.literals;
  const bool is_named = std::ranges::any_of(literals, [](const auto& literal) {
    return literal.find("git+http") != std::string::npos || literal.ends_with("git+");
  });
  if (is_named) {
    needs.push_back({.message = "`setup.py` names requirements that are fetched by git",
                     .any_of = {"program:git"},
                     .packages = "git"});
  }
}

void add_rows(std::vector<SystemNeed>& needs,
              const std::vector<python::Requirement>& requirements) {
  std::set<std::string, std::less<>> names;
  for (const auto& requirement : requirements) {
    if (requirement.name) {
      names.insert(*requirement.name);
    }
  }
  for (const NeedRow& row : rows) {
    if (!names.contains(row.distribution)) {
      continue;
    }
    SystemNeed need{.message = fmt::format("`{}` {}", row.distribution, row.message),
                    .packages = std::string{row.packages}};
    if (row.other_hint) {
      need.other_hint = std::string{*row.other_hint};
    }
    for (const auto name : row.any_of) {
      if (!name.empty()) {
        need.any_of.emplace_back(name);
      }
    }
    needs.push_back(std::move(need));
  }
}

/// Returns true if building the project's own package compiles something.
bool builds_extensions(const source::Tree& tree) {
  const auto document = pyproject_of(tree);
  if (document) {
    const auto backend = (*document)["build-system"]["build-backend"].value_or(std::string{});
    if ((*document)["tool"]["setuptools"]["ext-modules"] ||
        backend.starts_with("scikit_build_core") || backend.starts_with("mesonpy")) {
      return true;
    }
  }
  const auto words = read_setup_py(file_text(tree, "setup.py")).words;
  static constexpr std::array<std::string_view, 6> signs{"ext_modules",   "Extension",
                                                         "cythonize",     "CppExtension",
                                                         "CUDAExtension", "Pybind11Extension"};
  return std::ranges::any_of(
      signs, [&](std::string_view sign) { return words.contains(std::string{sign}); });
}

}  // namespace

std::vector<SystemNeed> system_needs(const source::Tree& tree,
                                     const Project& project,
                                     Installation installation) {
  std::vector<SystemNeed> needs;
  const auto requirements = all_requirements(tree, project);
  if (installation != Installation::resolved) {
    add_git(needs, requirements, project, installation);
    add_computed_git(needs, tree, project);
  }
  add_rows(needs, requirements);
  if (project.package && builds_extensions(tree)) {
    needs.push_back({.message = "the project's own package builds an extension, which takes a "
                                "compiler",
                     .any_of = {"program:gcc", "program:cc", "program:clang"},
                     .packages = "build-essential"});
  }
  return needs;
}

}  // namespace autopack::project
