#include "plan/entrypoint.hpp"

#include "project/program/launcher.hpp"

namespace autopack::plan {

namespace {

/// Returns the program without a launcher, or after one that starts any program.
std::vector<std::string> program_words(const project::Entry& entry,
                                       const std::optional<std::string>& python) {
  const std::string path = entry.file.value_or("");
  // A name that starts with a dash would be parsed as an option of the interpreter.
  const std::string file = path.starts_with('-') ? "./" + path : path;
  switch (entry.kind) {
    case project::EntryKind::module:
    case project::EntryKind::installed_module: return {python.value(), "-m", entry.value};
    case project::EntryKind::python_script: return {python.value(), file};
    case project::EntryKind::shell_script: return {"/bin/bash", file};
    case project::EntryKind::program: return entry.words;
  }
  return {};
}

}  // namespace

std::vector<std::string> entrypoint_of(const project::Entry& entry,
                                       const std::optional<std::string>& python) {
  auto words = program_words(entry, python);
  if (entry.launcher.empty()) {
    return words;
  }
  auto all = entry.launcher;
  if (python && project::is_interpreter(all.front())) {
    all.front() = *python;
  }
  const auto launcher = project::find_launcher(entry.launcher);
  if (launcher && launcher->starts_python) {
    words.erase(words.begin());
    if (words.front() == "-m") {
      words.front() = launcher->module_flag.value_or("");
    }
  }
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

}  // namespace autopack::plan
