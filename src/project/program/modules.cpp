#include "project/program/modules.hpp"

#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/code/python_file.hpp"
#include "project/code/python_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace autopack::project {

namespace {

constexpr std::size_t most_modules_read{200};
constexpr std::size_t most_modules_shown{3};

std::vector<std::string> modules_below(const Findings& findings, const std::string& root) {
  std::vector<std::string> modules;
  for (const auto& file : findings.files_below(root)) {
    const auto below = root.empty() ? file : file.substr(root.size() + 1);
    // Python does not search for modules through a directory `src`.
    const bool is_through_source =
        below.starts_with("src/") || below.find("/src/") != std::string::npos;
    if (file.ends_with(".py") && !file.ends_with("__init__.py") && file != "setup.py" &&
        !is_through_source) {
      modules.push_back(module_of_script(below));
    }
  }
  return modules;
}

}  // namespace

std::string module_of_script(std::string_view script) {
  if (script.ends_with("/__main__.py")) {
    script.remove_suffix(std::string_view{"/__main__.py"}.size());
  } else if (script.ends_with(".py")) {
    script.remove_suffix(3);
  }
  return replace_all(std::string{script}, "/", ".");
}

bool has_main_guard(std::string_view text) {
  PythonTokens tokens{text};
  Token token;
  bool at_start = true;
  bool after_if = false;
  while (tokens.next(token)) {
    if (after_if && token.is_name("__name__")) {
      return true;
    }
    after_if = at_start && !token.indented && token.is_name("if");
    at_start = token.kind == Token::Kind::line_end;
  }
  return false;
}

std::vector<std::string> modules_like(const Findings& findings,
                                      const std::string& module,
                                      const std::string& root) {
  auto modules = modules_below(findings, "");
  if (!root.empty()) {
    const auto more = modules_below(findings, root);
    modules.insert(modules.end(), more.begin(), more.end());
  }
  const auto same_end = std::ranges::find_if(
      modules, [&](const std::string& other) { return other.ends_with("." + module); });
  return same_end != modules.end() ? std::vector{fmt::format("did you mean `{}`?", *same_end)}
                                   : Findings::suggest(module, modules);
}

std::vector<std::string> ways_to_run(const Findings& findings,
                                     const std::string& module,
                                     const std::string& directory) {
  std::vector<std::string> hints;
  for (const auto& file : findings.files_below(directory, most_modules_read)) {
    const auto place = findings.follow(file);
    if (hints.size() < most_modules_shown && file.ends_with(".py") && place.is_file() &&
        place.entry.size <= largest_program &&
        (base_name(file) == "__main__.py" ||
         has_main_guard(findings.tree().read(place.entry.path)))) {
      hints.push_back(fmt::format(
          "--python-module {}",
          shell_quote(module + "." + module_of_script(file.substr(directory.size() + 1)))));
    }
  }
  if (hints.empty()) {
    hints.push_back(fmt::format("`--python-module={}.MODULE` runs one of its modules", module));
  }
  return hints;
}

}  // namespace autopack::project
