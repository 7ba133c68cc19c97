#include "project/program/script_metadata.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "project/code/python_file.hpp"
#include "project/program/modules.hpp"
#include "project/program/named_distributions.hpp"
#include "project/program/remembered_python.hpp"
#include "project/requirements/requirement_checks.hpp"
#include "project/requirements/uv_sources.hpp"
#include "project/toml.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"
#include "python/specifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::project {

namespace {

/// A part of a block that autopack ignores.
struct UnreadPart {
  std::string message{};
  int line{0};
  std::vector<std::string> hints{};
};

/// A parsed block. Lines are those of the file.
struct ScriptMetadata {
  int line{0};                                              ///< the first line of the block
  std::vector<std::pair<std::string, int>> dependencies{};  ///< with their lines
  std::optional<std::pair<std::string, int>> requires_python{};
  std::vector<std::pair<std::string, int>> pip_options{};  ///< of `[tool.uv]`, as pip writes them
  std::vector<UnreadPart> unread{};
  std::vector<std::pair<std::string, int>> problems{};  ///< why it is unreadable
};

class BlockReader {
public:
  /// `request` must outlive this.
  BlockReader(const Request& request, int line) : request_{request}, block_{.line = line} {}

  ScriptMetadata read(const std::string& text) {
    try {
      const auto document = parse_toml(text);
      read_dependencies(document);
      read_python(document);
      if (const auto* const uv = document["tool"]["uv"].as_table()) {
        read_uv(*uv);
      }
    } catch (const toml::parse_error& error) {
      block_.problems.emplace_back(
          fmt::format("cannot read the `# /// script` block: {}", printable(error.description())),
          block_.line + static_cast<int>(error.source().begin.line));
    }
    return std::move(block_);
  }

private:
  int line_of(const toml::node& node) const {
    return block_.line + std::max(static_cast<int>(node.source().begin.line), 1);
  }

  void refuse(const toml::node& node, std::string message) {
    block_.problems.emplace_back(std::move(message), line_of(node));
  }

  void read_dependencies(const toml::table& document) {
    const auto* const node = document.get("dependencies");
    if (node == nullptr) {
      return;
    }
    const auto* const list = node->as_array();
    if (list == nullptr) {
      refuse(*node, "`dependencies` of the `# /// script` block is not a list");
      return;
    }
    const auto* const sources = document["tool"]["uv"]["sources"].as_table();
    for (const auto& item : *list) {
      if (const auto text = item.value<std::string>()) {
        block_.dependencies.emplace_back(sources == nullptr ? *text : with_source(*text, *sources),
                                         line_of(item));
      } else {
        refuse(item, "a dependency of the `# /// script` block is not a string");
      }
    }
  }

  /// Returns `text`, a requirement, from where `sources` takes it.
  std::string with_source(const std::string& text, const toml::table& sources) {
    const auto requirement = python::parse_requirement(text);
    for (const auto& [key, value] : sources) {
      if (requirement.kind != python::Requirement::Kind::named ||
          python::normalise_name(key.str()) != requirement.name) {
        continue;
      }
      const auto* const source = value.as_table();
      if (auto other = source == nullptr ? std::nullopt : from_source(requirement, *source)) {
        return *std::move(other);
      }
      report_source(*requirement.name, value);
    }
    return text;
  }

  void report_source(const std::string& name, const toml::node& source) {
    const auto* const table = source.as_table();
    const auto path = table == nullptr ? std::nullopt : (*table)["path"].value<std::string>();
    if (path && !request_.extra_packages.empty()) {
      return;
    }
    block_.unread.push_back(
        {.message = fmt::format("autopack reads only `git` and `url` of `[tool.uv.sources]`: `{}` "
                                "comes from an index",
                                name),
         .line = line_of(source),
         .hints = path ? std::vector{"--extra-packages=" + shell_quote(*path)}
                       : std::vector<std::string>{}});
  }

  void read_python(const toml::table& document) {
    const auto* const node = document.get("requires-python");
    if (node == nullptr) {
      return;
    }
    const auto text = node->value_or(std::string{});
    const auto set = python::SpecifierSet::parse(text);
    if (!node->is_string() || !set) {
      refuse(*node,
             fmt::format("`requires-python` of the `# /// script` block is {}",
                         node->is_string()
                             ? fmt::format("`{}`, which is not a set of versions", printable(text))
                             : "not a string"));
    } else if (!set->all().empty()) {
      block_.requires_python = {text, line_of(*node)};
    }
  }

  void read_uv(const toml::table& uv) {
    for (const auto& [name, value] : uv) {
      const std::string key{name.str()};
      if (key == "index-url" || key == "extra-index-url" || key == "find-links") {
        for (const auto& url : strings_of(toml::node_view<const toml::node>{value})) {
          add_option("--" + key, url, value);
        }
      } else if (key == "index" && value.is_array()) {
        for (const auto& item : *value.as_array()) {
          read_index(item);
        }
      } else if (key != "sources") {
        block_.unread.push_back(
            {.message = fmt::format("autopack does not read `{}` of `[tool.uv]` in the `# /// "
                                    "script` block",
                                    printable(key)),
             .line = line_of(value),
             .hints = key == "exclude-newer"
                          ? std::vector<std::string>{"autopack lock --exclude-newer=DATE"}
                          : std::vector<std::string>{}});
      }
    }
  }

  void read_index(const toml::node& item) {
    const auto* const table = item.as_table();
    const auto url = table == nullptr ? std::nullopt : (*table)["url"].value<std::string>();
    if (!url) {
      refuse(item, "an index of the `# /// script` block has no `url`");
    } else if ((*table)["explicit"].value_or(false)) {
      block_.unread.push_back(
          {.message =
               fmt::format("autopack does not read the index `{}`, which is only for packages "
                           "that name it",
                           printable(redact_credentials(*url))),
           .line = line_of(item),
           .hints = {"without `explicit`, autopack reads the index"}});
    } else {
      const bool is_flat = (*table)["format"].value_or(std::string{}) == "flat";
      const bool is_default = (*table)["default"].value_or(false);
      add_option(is_flat      ? "--find-links"
                 : is_default ? "--index-url"
                              : "--extra-index-url",
                 *url, item);
    }
  }

  void add_option(const std::string& option, const std::string& url, const toml::node& node) {
    if (url.empty() || url.find_first_of(" \t\r\n\"'\\") != std::string::npos) {
      refuse(node, fmt::format("`{}` in the `# /// script` block is not a URL", printable(url)));
    } else {
      block_.pip_options.emplace_back(fmt::format("{} {}", option, url), line_of(node));
    }
  }

  const Request& request_;
  ScriptMetadata block_;
};

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
  const auto block = BlockReader{request, file.script_block_line}.read(file.script_block);
  const auto origin = [&](int line) { return fmt::format("{}:{}", *path, line); };
  const auto who = who_says(sources, project);
  for (const auto& [message, line] : block.problems) {
    who ? findings.warn(message, origin(line)) : findings.error(message, origin(line));
  }
  if (const auto& python = block.requires_python) {
    project.script_python =
        RequiresPython{.text = python->first,
                       .origin = origin(python->second),
                       .alternatives = {python::SpecifierSet::parse(python->first).value()}};
  }
  if (who) {
    sources.unread_block = UnreadBlock{.file = *path, .line = block.line, .who = *who};
    for (const auto& [text, line] : block.dependencies) {
      sources.unread_block->dependencies.push_back(text);
    }
    return;
  }
  project.script_block = place.entry.path;
  for (const auto& [text, line] : block.dependencies) {
    sources.requirements.emplace_back(text, origin(line));
  }
  for (const auto& [text, line] : block.pip_options) {
    sources.pip_lines.push_back({.text = text, .file = *path, .line = line});
  }
  for (const auto& [message, line, hints] : block.unread) {
    findings.warn(message, origin(line), hints);
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
  std::vector<std::string> contradictions;
  for (const auto& text : dependencies) {
    const auto requirement = python::parse_requirement(text);
    if (requirement.name && !std::binary_search(named.begin(), named.end(), *requirement.name)) {
      missing.push_back(*requirement.name);
    }
    if (const auto* other = contradicted_requirement(project, requirement)) {
      contradictions.push_back(fmt::format("`{}`, but `{}` is installed",
                                           printable(normalised(requirement)),
                                           printable(normalised(other->requirement))));
    }
  }
  const auto origin = fmt::format("{}:{}", file, line);
  const auto begin =
      fmt::format("the `# /// script` block is not installed, because {} what to install", who);
  if (!missing.empty()) {
    findings.warn(fmt::format("{}: the block also asks for `{}`", begin, join(missing, "`, `")),
                  origin, {fmt::format("--requirements={}", join(missing, ","))});
  }
  if (!contradictions.empty()) {
    findings.warn(fmt::format("{}: the block asks for {}", begin, join(contradictions, "; for ")),
                  origin);
  }
}

}  // namespace autopack::project
