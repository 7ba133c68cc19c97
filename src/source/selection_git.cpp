#include "base/error.hpp"
#include "base/text.hpp"
#include "source/selection_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

/// Git's part of a Selection: its ignore files and tracked files.
namespace autopack::source {

namespace {

using Decision = GitIgnoreFile::Decision;

constexpr std::uint64_t largest_ignore_file{1'000'000};

/// Returns true if git ignores the directory of the tree itself, or one above it.
bool is_ignored_whole(const GitWorkTree& git) {
  const std::string_view whole{git.prefix};
  for (auto end = whole.find('/'); end != std::string_view::npos; end = whole.find('/', end + 1)) {
    for (const auto& file : git.outside) {
      const std::size_t base = whole.size() - file.prefix.size();
      const auto match = end <= base
                             ? GitIgnoreFile::Match{}
                             : GitIgnoreFile{file.text, file.name, "", 0, git.letters}.decide(
                                   whole.substr(base, end - base), true);
      if (match.decision == Decision::out) {
        return true;
      }
      if (match.decision == Decision::in) {
        break;
      }
    }
  }
  return false;
}

}  // namespace

void Selection::State::begin_git(Directory& top) {
  if (is_ignored_whole(*git)) {
    return;  // whoever works there wants its files anyway
  }
  auto files = std::make_shared<std::vector<const GitIgnoreFile*>>();
  for (const auto& file : git->outside) {
    git_files_.emplace_back(file.text, file.name, file.prefix, 0, git->letters);
    files->push_back(&git_files_.back());
  }
  top.git_files = std::move(files);
}

void Selection::State::read_git_file(Directory& directory,
                                     std::string_view path,
                                     bool begins_repository) {
  const std::string file = path.empty() ? ".gitignore" : fmt::format("{}/.gitignore", path);
  const auto entry = tree->find(file);
  const bool is_there = entry && entry->type == EntryType::file;
  if (!is_there && !begins_repository) {
    return;
  }
  auto files = std::make_shared<std::vector<const GitIgnoreFile*>>();
  if (is_there) {
    if (entry->size > largest_ignore_file) {
      throw Error(ErrorKind::project, fmt::format("`{}` is too large for a file of rules: {}",
                                                  printable(file), human_size(entry->size)));
    }
    git_files_.emplace_back(tree->read(file), file, "", path.empty() ? 0 : path.size() + 1,
                            git->letters);
    files->push_back(&git_files_.back());
  }
  if (!begins_repository && directory.git_files) {
    files->insert(files->end(), directory.git_files->begin(), directory.git_files->end());
  }
  directory.git_files = std::move(files);
}

const std::vector<std::string>& Selection::State::tracked(const std::string& repository) {
  const auto [known, is_new] = tracked_.try_emplace(repository);
  if (is_new) {
    known->second = git->tracked(repository);
  }
  return known->second;
}

bool Selection::State::is_tracked(const std::string& repository,
                                  std::string_view path,
                                  bool or_below) {
  const auto& paths = tracked(repository);
  const std::string inside{path.substr(repository.empty() ? 0 : repository.size() + 1)};
  if (std::binary_search(paths.begin(), paths.end(), inside)) {
    return true;
  }
  const std::string below = inside + "/";
  const auto first = std::lower_bound(paths.begin(), paths.end(), below);
  return or_below && first != paths.end() && first->starts_with(below);
}

const Rule* Selection::State::git_rule(const Directory& above,
                                       std::string_view path,
                                       bool is_directory) {
  if (above.git_rule != nullptr) {
    return is_tracked(above.repository, path, false) ? nullptr : above.git_rule;
  }
  if (!above.git_files) {
    return nullptr;
  }
  for (const GitIgnoreFile* file : *above.git_files) {
    const auto match = file->decide(path, is_directory);
    if (match.decision == Decision::in) {
      return nullptr;
    }
    if (match.decision == Decision::out) {
      return is_tracked(above.repository, path, false) ? nullptr : match.rule;
    }
  }
  return nullptr;
}

bool Selection::State::is_ignored_by_git(std::string_view path, bool is_directory) {
  return git && !path.empty() &&
         git_rule(directory(parent_of(path)), path, is_directory) != nullptr;
}

}  // namespace autopack::source
