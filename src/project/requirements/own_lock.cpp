#include "project/requirements/own_lock.hpp"

#include "base/digest.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/code/python_file.hpp"
#include "project/requirements/requirement_lines.hpp"
#include "project/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

// A lock of another tool replaces the project's own description, so that requirement files beside
// it win. `autopack lock` resolves those files themselves: its lock replaces them as long as they
// are the ones that it read.

namespace autopack::project {

namespace {

constexpr auto* absent = "absent";

/// Files at the root that decide where requirements are read from.
constexpr std::array<std::string_view, 6> deciding{"requirements.txt", "pyproject.toml",
                                                   "setup.py",         "setup.cfg",
                                                   "environment.yml",  "environment.yaml"};

/// Returns what pip sees of a requirements file, so that a comment makes no lock old.
std::string without_comments(const std::string& text) {
  std::string seen;
  for (const auto& line : split_requirements(decode_requirements(text).text)) {
    seen += line.requirement.value_or("");
    for (const auto& [name, value] : line.options) {
      seen += fmt::format(" {}={}", name, value);
    }
    seen += "\n";
  }
  return seen;
}

std::string state_of(const source::Tree& tree, const std::string& path) {
  const auto entry = tree.find(path);
  if (!entry || entry->type != source::EntryType::file) {
    return absent;
  }
  const auto text = tree.read(entry->path);
  if (path.ends_with(".py") && base_name(path) != "setup.py") {
    return sha256(read_python_file(text).script_block).str();
  }
  const bool has_lines = path.ends_with(".txt") || path.ends_with(".in");
  return sha256(has_lines ? without_comments(text) : text).str();
}

/// Returns `path`, or for a directory of sources the files that may list what it requires.
std::vector<std::string> files_of_input(const source::Tree& tree, const std::string& path) {
  const auto entry = tree.find(path);
  if (!entry || entry->type != source::EntryType::directory) {
    return {path};
  }
  static constexpr std::array<std::string_view, 4> endings{".txt", ".in", ".toml", ".cfg"};
  std::vector<std::string> files;
  for (const auto& file : tree.list(path)) {
    const auto name = base_name(file.path);
    if (file.type == source::EntryType::file &&
        (name == "setup.py" ||
         std::ranges::any_of(endings, [&](const auto ending) { return name.ends_with(ending); }))) {
      files.push_back(join_path(path, name));
    }
  }
  return files;
}

std::vector<std::string> texts_in(const toml::array* array) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
    texts.push_back(array->get(i)->value_or(std::string{}));
  }
  return texts;
}

std::optional<toml::table> parsed(std::string_view text) {
  try {
    return is_own_lock(text) ? std::optional{parse_toml(text)} : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// Returns the first input that has changed since the lock was written; nothing if none has.
std::optional<std::string> changed_input(const Findings& findings,
                                         const Request& request,
                                         const toml::table& lock) {
  const auto own = lock["tool"]["autopack"];
  if (texts_in(own["choices"].as_array()) != choices_of_own_lock(request)) {
    return "the choice of requirements";
  }
  const auto* const inputs = own["inputs"].as_table();
  if (inputs == nullptr) {
    return own_lock_inputs;
  }
  for (const auto& [path, state] : *inputs) {
    const std::string name{path.str()};
    if (state.value_or(std::string{}) != state_of(findings.tree(), name)) {
      return fmt::format("`{}`", printable(name));
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_own_lock(std::string_view text) {
  return text.find(fmt::format("\n{}\n", own_lock_table)) != std::string_view::npos;
}

std::map<std::string, std::string> inputs_of_own_lock(const source::Tree& tree,
                                                      const Project& project,
                                                      const std::vector<std::string>& more) {
  std::map<std::string, std::string> inputs;
  for (const auto name : deciding) {
    inputs[std::string{name}] = state_of(tree, std::string{name});
  }
  for (const auto* paths : {&project.requirement_inputs, &more}) {
    for (const auto& path : *paths) {
      for (const auto& file : files_of_input(tree, path)) {
        const auto state = state_of(tree, file);
        if (state != absent) {
          inputs[file] = state;
        }
      }
    }
  }
  if (project.script_block) {
    inputs[*project.script_block] = state_of(tree, *project.script_block);
  }
  return inputs;
}

std::vector<std::string> choices_of_own_lock(const Request& request) {
  std::vector<std::string> choices;
  const auto add = [&](const char* what, const std::vector<std::string>& values) {
    for (const auto& value : values) {
      choices.push_back(fmt::format("{} {}", what, value));
    }
  };
  add("file", request.requirement_files);
  add("requirement", request.requirements);
  add("package", request.extra_packages);
  add("extra", request.package_extras);
  add("group", request.groups);
  for (const auto& line :
       request.notebook ? request.notebook->lines : std::vector<NotebookLine>{}) {
    choices.push_back("notebook " + line.text);
  }
  return choices;
}

std::vector<std::string> provided_by_image(std::string_view text) {
  const auto lock = parsed(text);
  return lock ? texts_in((*lock)["tool"]["autopack"]["provided"].as_array())
              : std::vector<std::string>{};
}

std::optional<Lock> own_lock(Findings& findings, const Request& request) {
  if (request.lock || findings.is_ignored(own_lock_file)) {
    return std::nullopt;
  }
  const auto entry = findings.tree().find(own_lock_file);
  if (!entry || entry->type != source::EntryType::file) {
    return std::nullopt;
  }
  const auto lock = parsed(findings.tree().read(own_lock_file));
  if (!lock) {
    return std::nullopt;
  }
  if (const auto changed = changed_input(findings, request, *lock)) {
    findings.warn(fmt::format("`{}` is not used: {} has changed since it was written",
                              own_lock_file, *changed),
                  "", {"autopack lock"});
    return std::nullopt;
  }
  return Lock{.file = own_lock_file, .is_own = true};
}

}  // namespace autopack::project
