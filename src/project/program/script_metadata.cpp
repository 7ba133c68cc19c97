#include "project/program/script_metadata.hpp"

#include "base/text.hpp"
#include "project/code/python_file.hpp"
#include "project/program/modules.hpp"
#include "project/program/named_distributions.hpp"
#include "project/program/remembered_python.hpp"
#include "project/toml.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::project {

namespace {

/// A parsed block. Lines are those of the file.
struct ScriptMetadata {
  int line{0};                                              ///< the first line of the block
  std::vector<std::pair<std::string, int>> dependencies{};  ///< with their lines
  std::optional<std::pair<std::string, int>> requires_python{};
  int uv_line{0};  ///< of indexes or sources for uv; 0: there are none
  std::optional<std::pair<std::string, int>> problem{};  ///< why it is unreadable
};

int line_of(const toml::node& node) {
  return static_cast<int>(node.source().begin.line);
}

void read_block(ScriptMetadata& block, const std::string& text) {
  try {
    const auto document = parse_toml(text);
    if (const auto* const list = document["dependencies"].as_array()) {
      for (const auto& item : *list) {
        if (const auto requirement = item.value<std::string>()) {
          block.dependencies.emplace_back(*requirement, block.line + line_of(item));
        }
      }
    }
    if (const auto* const node = document.get("requires-python")) {
      block.requires_python = {node->value_or(std::string{}), block.line + line_of(*node)};
    }
    const auto uv = document["tool"]["uv"];
    for (const char* const key : {"sources", "index", "index-url", "extra-index-url"}) {
      if (const auto* const node = uv[key].node(); node != nullptr && block.uv_line == 0) {
        block.uv_line = block.line + std::max(line_of(*node), 1);
      }
    }
  } catch (const toml::parse_error& error) {
    block.problem = {std::string{error.description()},
                     block.line + static_cast<int>(error.source().begin.line)};
  }
}

/// Returns what determines the installation, for people; nothing if nothing does.
std::optional<std::string> who_says(const RequirementSources& sources, const Project& project) {
  if (sources.lock) {
    return "`" + sources.lock->file + "` says";
  }
  if (!sources.files.empty()) {
    return fmt::format("`{}` {}", join(sources.files, "`, `"),
                       sources.files.size() == 1 ? "says" : "say");
  }
  if (!sources.requirements.empty() || !sources.pip_lines.empty()) {
    return "the environment file says";
  }
  const auto& package = project.package;
  const bool needs_nothing = !package || (package->requirements && package->requirements->empty());
  return needs_nothing ? std::nullopt : std::optional{"the project's own package says"};
}

}  // namespace

void read_script_block(Findings& findings,
                       const Request& request,
                       Project& project,
                       RequirementSources& sources) {
  const auto path = request.script ? path_in_tree(request, *request.script) : std::nullopt;
  const auto place = path ? findings.follow(*path) : Place{};
  if (!place.is_file() || !path->ends_with(".py") || place.entry.size > largest_program) {
    return;
  }
  const auto& tree = findings.tree();
  auto& file = project.python_files[place.entry.path];
  file = request.python ? request.python->of(tree, place.entry)
                        : read_python_file(tree.read(place.entry.path));
  if (file.script_block_line == 0) {
    return;
  }
  ScriptMetadata block{.line = file.script_block_line};
  read_block(block, file.script_block);
  const auto origin = [&](int line) { return fmt::format("{}:{}", *path, line); };
  if (block.problem) {
    findings.warn(
        fmt::format("cannot read the `# /// script` block: {}", printable(block.problem->first)),
        origin(block.problem->second));
    return;
  }
  if (const auto& python = block.requires_python) {
    auto set = python::SpecifierSet::parse(python->first);
    if (set && !set->all().empty()) {
      project.script_python = RequiresPython{.text = python->first,
                                             .origin = origin(python->second),
                                             .alternatives = {std::move(*set)}};
    }
  }
  if (const auto who = who_says(sources, project)) {
    sources.unread_block = UnreadBlock{.file = *path, .line = block.line, .who = *who};
    for (const auto& [text, line] : block.dependencies) {
      sources.unread_block->dependencies.push_back(text);
    }
    return;
  }
  for (const auto& [text, line] : block.dependencies) {
    sources.requirements.emplace_back(text, origin(line));
  }
  if (block.uv_line > 0) {
    findings.warn("pip does not read `[tool.uv]` in the `# /// script` block",
                  origin(block.uv_line),
                  {"an index goes into PIP_INDEX_URL or PIP_EXTRA_INDEX_URL"});
  }
}

void report_unread_block(Findings& findings,
                         const RequirementSources& sources,
                         const Project& project) {
  if (!sources.unread_block) {
    return;
  }
  const auto& [file, line, who, dependencies] = *sources.unread_block;
  const auto named = named_distributions(findings.tree(), project).names;
  std::vector<std::string> missing;
  for (const auto& text : dependencies) {
    const auto name = python::parse_requirement(text).name;
    if (name && !std::binary_search(named.begin(), named.end(), *name)) {
      missing.push_back(*name);
    }
  }
  if (!missing.empty()) {
    findings.warn(
        fmt::format(
            "the `# /// script` block is not installed, as {} what is: it asks for `{}` too", who,
            join(missing, "`, `")),
        fmt::format("{}:{}", file, line), {fmt::format("--requirements={}", join(missing, ","))});
  }
}

}  // namespace autopack::project
