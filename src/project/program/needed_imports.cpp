#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/program/needed_files.hpp"

#include <algorithm>

namespace autopack::project {

void NeededFiles::read_import(const std::string& path, const Import& import) {
  const std::string module = replace_all(import.module, ".", "/");
  if (import.level > 0) {
    std::string directory = parent_path(path);
    for (int level = 1; level < import.level; ++level) {
      directory = parent_path(directory);
    }
    enter(directory, module, path, import);
    return;
  }
  for (const std::string& root : roots_) {
    enter(root, module, path, import);
  }
}

/// Visits everything that importing `module` and its names from `root` runs.
void NeededFiles::enter(const std::string& root,
                        const std::string& module,
                        const std::string& path,
                        const Import& import) {
  std::string at = root;
  for (const std::string& part : split(module, '/')) {
    if (part.empty()) {
      continue;
    }
    at = join_path(at, part);
    if (!take(at, path, import)) {
      return;
    }
  }
  for (const std::string& one : import.names) {
    take(join_path(at, one), path, import);
  }
}

/// Includes the module `at`; returns false if it cannot contain another.
bool NeededFiles::take(const std::string& at, const std::string& path, const Import& import) {
  if (const auto [known, is_new] = taken_.try_emplace(at); !is_new) {
    return known->second;
  }
  const auto& siblings = files_in(parent_path(at));
  const auto first = std::lower_bound(siblings.begin(), siblings.end(), at);
  if (first == siblings.end() || !first->starts_with(at)) {
    return false;
  }
  const Mention mention{.from = path, .line = import.line};
  const auto& tree = findings_->tree();
  for (const char* end : {"/__init__.py", ".py"}) {
    if (const auto entry = tree.find(at + end); entry) {
      need(entry->path, mention, "imports");
      visit(entry->path);
      return taken_[at] = end[0] == '/';
    }
  }
  if (const auto entry = tree.find(at); entry) {
    return taken_[at] = entry->type == source::EntryType::directory;
  }
  const std::string beginning = at + ".";
  for (auto file = first; file != siblings.end() && file->starts_with(at); ++file) {
    if (file->starts_with(beginning) && (file->ends_with(".so") || file->ends_with(".pyd"))) {
      need(*file, mention, "imports");
    }
  }
  return false;
}

}  // namespace autopack::project
