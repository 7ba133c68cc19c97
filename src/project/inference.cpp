#include "project/inference.hpp"

#include "base/text.hpp"
#include "project/console_scripts.hpp"
#include "project/findings.hpp"
#include "project/modules.hpp"
#include "source/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace autopack::project {

namespace {

constexpr std::size_t most_programs{200};
constexpr std::size_t most_hints{5};

constexpr std::array usual_names{"train.py", "main.py", "trainer/task.py"};

/// Those with wheels for most packages come first.
constexpr std::array versions_of_choice{"3.11", "3.12", "3.13", "3.10", "3.14", "3.9", "3.8"};

bool is_helper(std::string_view name) {
  return name == "setup.py" || name == "conftest.py" || name == "noxfile.py" ||
         name.starts_with("test_") || name.ends_with("_test.py") || name.starts_with("_");
}

std::vector<std::string> programs_of_root(const source::Tree& tree) {
  std::vector<std::string> programs;
  for (const auto& entry : tree.list("")) {
    if (entry.type == source::EntryType::file && entry.path.ends_with(".py") &&
        !is_helper(entry.path) && entry.size <= largest_program &&
        programs.size() < most_programs) {
      programs.push_back(entry.path);
    }
  }
  return programs;
}

/// The programs of `[project.scripts]`.
std::vector<std::string> scripts_of_package(const source::Tree& tree) {
  const source::Selection everything{};
  std::vector<std::string> names;
  for (const auto& [name, module] : console_scripts(Findings{tree, everything})) {
    names.push_back(name);
  }
  return names;
}

bool is_file(const source::Tree& tree, std::string_view path) {
  const auto entry = tree.find(path);
  return entry && entry->type == source::EntryType::file;
}

Error no_entry(const std::vector<Inferred>& choices) {
  Error error(ErrorKind::usage,
              choices.empty() ? "nothing to run: the project has no Python program at its root"
                              : "several programs could be meant to run");
  for (std::size_t i = 0; i < std::min(choices.size(), most_hints); ++i) {
    error.hint(fmt::format("{} {}", choices[i].flag, shell_quote(choices[i].value)));
  }
  if (choices.empty()) {
    error.hint(
        "`--script FILE`, `--python-module MODULE` or `--command WORD,...` names the program");
  }
  return error;
}

std::optional<Inferred> infer_script(const source::Tree& tree,
                                     const std::vector<std::string>& programs) {
  std::vector<std::string> guarded;
  std::copy_if(programs.begin(), programs.end(), std::back_inserter(guarded),
               [&](const std::string& path) { return has_main_guard(tree.read(path)); });
  if (guarded.size() == 1) {
    return Inferred{"script", guarded[0], "the only file here with a `__main__` guard", "--script"};
  }
  for (const auto* name : usual_names) {
    if (is_file(tree, name)) {
      return Inferred{"script", name, "by its name", "--script"};
    }
  }
  return std::nullopt;
}

/// `3.11` of `3.11.4` or of pyenv's `3.11-dev`; none for another text.
std::optional<std::string> minor_version(std::string_view text) {
  const auto parts = split(trim(text.substr(0, std::min(text.find('\n'), text.size()))), '.');
  const auto number = [](std::string_view part) {
    const auto end = part.find_first_not_of("0123456789");
    return std::string{part.substr(0, end)};
  };
  if (parts.size() < 2 || parts[0] != "3" || number(parts[1]).empty()) {
    return std::nullopt;
  }
  return "3." + number(parts[1]);
}

}  // namespace

std::vector<Inferred> entry_choices(const source::Tree& tree) {
  std::vector<Inferred> choices;
  for (const auto& program : programs_of_root(tree)) {
    choices.push_back({"script", program, "", "--script"});
  }
  for (const auto& name : scripts_of_package(tree)) {
    choices.push_back({"command", name, "", "--command"});
  }
  return choices;
}

void choose_entry(const Inferred& entry, Request& request) {
  if (entry.what == "command") {
    request.command = {entry.value};
  } else {
    request.script = entry.value;
  }
}

std::optional<Inferred> find_entry(const source::Tree& tree, Request& request) {
  const auto programs = programs_of_root(tree);
  auto entry = infer_script(tree, programs);
  if (!entry) {
    const auto installed = scripts_of_package(tree);
    if (installed.size() == 1) {
      entry = Inferred{"command", installed[0],
                       "the only program that installing the project makes", "--command"};
    } else if (programs.size() == 1) {
      entry = Inferred{"script", programs[0], "the only Python file here", "--script"};
    }
  }
  if (entry) {
    choose_entry(*entry, request);
  }
  return entry;
}

Inferred infer_entry(const source::Tree& tree, Request& request) {
  if (auto entry = find_entry(tree, request)) {
    return *std::move(entry);
  }
  throw no_entry(entry_choices(tree));
}

Inferred infer_executor_image(const source::Tree& tree, const Project& project) {
  Inferred image{.what = "executor image", .flag = "--executor-image-uri"};
  if (is_file(tree, ".python-version")) {
    if (const auto version = minor_version(tree.read(".python-version"))) {
      image.value = "python:" + *version;
      image.reason = "by .python-version";
      return image;
    }
  }
  const auto& required = project.requires_python ? project.requires_python : project.script_python;
  const auto allows = [](const auto& one, const auto& wanted) {
    return !one || (wanted && one->allows(*wanted));
  };
  for (const auto* version : versions_of_choice) {
    const auto parsed = python::Version::parse(version);
    if (allows(required, parsed) && allows(project.script_python, parsed)) {
      image.value = fmt::format("python:{}", version);
      image.reason = required ? fmt::format("{} `{}`", required->origin, printable(required->text))
                              : "the project names no version of Python";
      return image;
    }
  }
  throw Error(ErrorKind::usage,
              fmt::format("no executor image is known for Python `{}`", printable(required->text)))
      .cause(required->origin)
      .hint("`--executor-image-uri IMAGE` names one");
}

}  // namespace autopack::project
