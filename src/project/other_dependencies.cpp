#include "project/other_dependencies.hpp"

#include "base/text.hpp"
#include "project/conda_environment.hpp"
#include "project/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

using Requirements = std::vector<std::pair<std::string, std::string>>;

struct Unread {
  const char* file;
  const char* command;  ///< makes something of it that is read
};

/// Each as its tool's own `--help` has it.
constexpr std::array unread{
    Unread{"Pipfile", "pipenv lock"},
    Unread{"conda-lock.yml", nullptr},
    Unread{"conda-lock.yaml", nullptr},
    Unread{"pixi.lock", nullptr},
};

/// A line of the pip part as a requirement; options have another way.
void add_pip_line(Findings& findings,
                  Requirements& requirements,
                  const std::string& line,
                  const std::string& origin) {
  for (const std::string_view option : {"-e ", "--editable ", "--editable="}) {
    if (line.starts_with(option)) {
      requirements.emplace_back(trim(std::string_view{line}.substr(option.size())), origin);
      return;
    }
  }
  if (!line.starts_with('-')) {
    requirements.emplace_back(line, origin);
    return;
  }
  const bool is_file = line.starts_with("-r") || line.starts_with("--requirement");
  findings.warn(fmt::format("`{}` is an option of pip that is not read here", printable(line)),
                origin,
                {is_file ? "--requirements-file=FILE"
                         : "an index stands in PIP_INDEX_URL, PIP_EXTRA_INDEX_URL or pip.conf"});
}

}  // namespace

bool declares_dependencies(const std::string& pyproject) {
  try {
    const toml::table document = parse_toml(pyproject);
    const auto project = document["project"];
    const auto* const dynamic = project["dynamic"].as_array();
    const bool is_dynamic =
        dynamic != nullptr && std::any_of(dynamic->begin(), dynamic->end(), [](const auto& name) {
          return name.value_or(std::string{}) == "dependencies";
        });
    const auto* const listed = project["dependencies"].as_array();
    const auto* const poetry = document["tool"]["poetry"]["dependencies"].as_table();
    // Poetry's table names the interpreter too.
    return is_dynamic || (listed != nullptr && !listed->empty()) ||
           (poetry != nullptr && poetry->size() > (poetry->contains("python") ? 1U : 0U));
  } catch (const toml::parse_error&) {
    return true;
  }
}

RequirementSources other_dependencies(Findings& findings, const Request& request) {
  const bool tells = request.requirements.empty() && request.groups.empty();
  if (const auto file = find_conda_environment(findings)) {
    RequirementSources sources;
    auto environment =
        read_conda_environment(findings.tree().read(findings.follow(*file).entry.path));
    for (const auto& [line, number] : environment.pip) {
      add_pip_line(findings, sources.requirements, line, fmt::format("{}:{}", *file, number));
    }
    if (tells) {
      sources.conda = CondaRequest{.file = *file, .packages = std::move(environment.packages)};
    }
    return sources;
  }
  for (const auto& lock : unread) {
    if (tells && findings.is_file(lock.file)) {
      findings.warn(
          fmt::format("`{}` is there, but nothing of it is installed: autopack reads "
                      "requirements files and the locks of pip, uv, Poetry, PDM and pipenv",
                      lock.file),
          "",
          {lock.command != nullptr ? std::string{lock.command}
                                   : "write what the program needs into a requirements.txt, or "
                                     "`--requirements=NAME,...`"});
      break;
    }
  }
  return {};
}

}  // namespace autopack::project
