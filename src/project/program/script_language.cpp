#include "project/program/script_language.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/findings.hpp"
#include "project/program/launcher.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace autopack::project {

namespace {

constexpr std::size_t most_sniffed{512};

using Language = ScriptLanguage::Kind;

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> language_suffixes{
    {{".pl", "perl"},
     {".rb", "ruby"},
     {".js", "node"},
     {".mjs", "node"},
     {".cjs", "node"},
     {".ts", "node"},
     {".R", "Rscript"},
     {".r", "Rscript"},
     {".jl", "julia"},
     {".lua", "lua"},
     {".php", "php"},
     {".fish", "fish"},
     {".ps1", "pwsh"},
     {".jar", "java"}}};

constexpr std::array<std::string_view, 8> shells{"sh",  "bash", "dash",    "ash",
                                                 "ksh", "zsh",  "busybox", "rbash"};

/// Returns the words of `#!/usr/bin/env -S python3 -u`, its program first.
std::vector<std::string> words_of_first_line(std::string_view line) {
  std::vector<std::string> words;
  for (auto& word : split(replace_all(std::string{line.substr(2)}, "\t", " "), ' ')) {
    if (!word.empty()) {
      words.push_back(std::move(word));
    }
  }
  return words;
}

ScriptLanguage language_of_line(std::string_view line) {
  ScriptLanguage language;
  language.windows_line_end = line.ends_with('\r');
  auto words = words_of_first_line(trim(line));
  language.by_env = !words.empty() && base_name(words.front()) == "env";
  if (language.by_env) {
    const auto program = std::find_if(words.begin() + 1, words.end(), [](const auto& word) {
      return !word.starts_with('-') && word.find('=') == std::string::npos;
    });
    words.erase(words.begin(), program);
  }
  if (words.empty()) {
    return language;
  }
  language.program = base_name(words.front());
  const bool is_shell = contains(shells, *language.program);
  language.kind = is_shell                            ? Language::shell
                  : is_interpreter(*language.program) ? Language::python
                                                      : Language::other;
  return language;
}

/// Returns whether the first line of code is a Python import.
bool begins_like_python(std::string_view text) {
  for (const auto& whole : split(text.substr(0, most_sniffed), '\n')) {
    const auto line = trim(whole);
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    const bool imports = line.starts_with("import ") && is_alphanumeric(line.substr(7), "_., ");
    return imports || (line.starts_with("from ") && line.find(" import ") != std::string::npos);
  }
  return false;
}

}  // namespace

ScriptLanguage language_of(std::string_view path, std::string_view text) {
  if (text.starts_with("#!")) {
    return language_of_line(text.substr(0, text.find('\n')));
  }
  if (path.ends_with(".py")) {
    return {.kind = Language::python};
  }
  if (text.starts_with("\x7f"
                       "ELF") ||
      text.substr(0, most_sniffed).find('\0') != std::string_view::npos) {
    return {.kind = Language::binary};
  }
  for (const auto& [suffix, program] : language_suffixes) {
    if (path.ends_with(suffix)) {
      return {.kind = Language::other, .program = std::string{program}};
    }
  }
  return {.kind = begins_like_python(text) ? Language::python : Language::shell};
}

}  // namespace autopack::project
