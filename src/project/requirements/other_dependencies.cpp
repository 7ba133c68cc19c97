#include "project/requirements/other_dependencies.hpp"

#include "base/text.hpp"
#include "project/requirements/conda_environment.hpp"
#include "project/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

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

}  // namespace

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
                                  : "write what the program needs into a requirements.txt, or "
                                    "`--requirements=NAME,...`"});
  }
}

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

}  // namespace autopack::project
