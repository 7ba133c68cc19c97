#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "plan/import_walk.hpp"
#include "project/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::plan {

namespace {

/// Returns whether reading the text of `file` again may find something.
bool may_start_programs(const project::PythonFile& file) {
  static constexpr std::array<std::string_view, 3> modules{"subprocess", "os", "asyncio"};
  return std::ranges::any_of(file.imports,
                             [](const auto& import) { return contains(modules, import.module); });
}

bool holds_any(std::string_view text) {
  static constexpr std::array<std::string_view, 4> words{"subprocess", "os.system", "os.popen",
                                                         "create_subprocess"};
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

}  // namespace

/// Records how the file uses its environment. Returns true if it changes sys.path only by literal
/// texts, which then are roots.
bool ImportWalk::note_uses(const ContextEntry& entry,
                           const std::string& path,
                           const project::PythonFile& file,
                           std::string text) {
  findings_.files.push_back(&entry);
  const bool looks_beside = start_.is_script && !start_.origin && !start_.root.empty();
  if (!may_start_programs(file) && !file.changes_path && !looks_beside) {
    return false;
  }
  if (text.empty()) {
    text = plan_.read(entry);
  }
  if (!holds_any(text) && !file.changes_path && !looks_beside) {
    return false;
  }
  const auto uses = project::read_python_uses(text);
  directory_changes_ = directory_changes_ || uses.changes_directory;
  for (const auto& use : uses.programs) {
    if (!use.when_main || path == start_.file) {
      findings_.programs.push_back(
          {.name = use.name, .path = path, .line = use.line, .function = use.function});
    }
  }
  if (looks_beside) {
    note_files(path, uses.files);
  }
  return add_literal_roots(uses);
}

bool ImportWalk::add_literal_roots(const project::PythonUses& uses) {
  const bool is_literal =
      !uses.computes_path && !uses.changes_directory && !uses.path_texts.empty() &&
      !start_.origin &&
      std::ranges::none_of(uses.path_texts, [](const auto& text) { return text.starts_with('/'); });
  if (is_literal) {
    for (const auto& text : uses.path_texts) {
      if (const auto root = source::normalise(text)) {
        add_root(*root);
      }
    }
  }
  return is_literal;
}

/// Reports files that exist relative to the program's own directory, but not to the project's, in
/// which it starts.
void ImportWalk::note_files(const std::string& path, const std::vector<project::PythonUse>& files) {
  const auto is_there = [&](const std::string& file) {
    return modules_.in_image(file) != nullptr || plan_.working_directory().find(file).has_value();
  };
  for (const auto& use : files) {
    const auto here = source::normalise(use.name);
    const auto beside = source::normalise(join_path(start_.root, use.name));
    const bool is_run = !use.when_main || path == start_.file;
    if (is_run && beside && !beside->empty() && !(here && is_there(*here)) &&
        modules_.in_image(*beside) != nullptr) {
      beside_.push_back({.name = use.name, .path = path, .line = use.line});
    }
  }
}

void ImportWalk::report_files() {
  if (beside_.empty() || directory_changes_) {
    return;
  }
  const auto& first = beside_.front();
  const std::string more =
      beside_.size() > 1 ? fmt::format(", as {} more", beside_.size() - 1) : std::string{};
  const std::string file = start_.file.substr(start_.root.size() + 1);
  findings_.problems.push_back(Problem::warning(
      {.message = fmt::format("`{}` line {} opens `{}`, which is found from `{}` only{}; programs "
                              "start in the project's directory",
                              printable(first.path), first.line, printable(first.name),
                              printable(start_.root), more),
       .hints = {fmt::format("`--command={}` starts it there",
                             shell_quote(fmt::format("env,-C,{},{},{}", start_.root,
                                                     plan_.python.value_or("python3"), file)))}}));
}

}  // namespace autopack::plan
