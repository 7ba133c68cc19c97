#include "source/git_work_tree.hpp"

#include "base/file.hpp"
#include "source/git_repository.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace autopack::source {

namespace fs = std::filesystem;

namespace {

/// False where git would find no repository, told without libgit2.
bool may_be_in_git(const fs::path& directory, const Environment& environment) {
  if (environment.get("GIT_DIR")) {
    return true;
  }
  std::error_code code;
  for (fs::path at = fs::weakly_canonical(fs::absolute(directory, code), code);;
       at = at.parent_path()) {
    if (fs::exists(at / ".git", code)) {
      return true;
    }
    if (!at.has_relative_path()) {
      return false;
    }
  }
}

std::vector<std::string> tracked_below(const GitPlace& place) {
  const GitIndex index = open_index(place);
  const std::string below = place.prefix.empty() ? std::string{} : place.prefix + "/";
  std::vector<std::string> paths;
  const std::size_t count = git().index_entrycount(index.get());
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view path{git().index_get_byindex(index.get(), i)->path};
    if (path.starts_with(below)) {
      paths.emplace_back(path.substr(below.size()));
    }
  }
  if (!std::is_sorted(paths.begin(), paths.end())) {
    std::sort(paths.begin(), paths.end());
  }
  return paths;
}

std::optional<std::string> setting(git_repository* repository, const char* name) {
  git_config* config = nullptr;
  if (git().repository_config_snapshot(&config, repository) != 0) {
    return std::nullopt;
  }
  const GitConfig owner{config};
  git_buf buffer = {};
  if (git().config_get_string_buf(&buffer, config, name) != 0) {
    return std::nullopt;
  }
  std::string value{buffer.ptr, buffer.size};
  git().buf_dispose(&buffer);
  return value;
}

fs::path global_excludes(const GitPlace& place, const Environment& environment) {
  if (const auto named = setting(place.repository.get(), "core.excludesfile")) {
    const bool is_home = named->starts_with("~/");
    return is_home ? environment.home() / named->substr(2) : fs::path{*named};
  }
  const auto config = environment.get("XDG_CONFIG_HOME");
  const fs::path home =
      config && !config->empty() ? fs::path{*config} : environment.home() / ".config";
  return home / "git" / "ignore";
}

/// Appends the file `path` when it is there.
void add(std::vector<OuterIgnoreFile>& files, const fs::path& path, std::string prefix) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) {
    return;
  }
  try {
    if (auto text = read_file_if_exists(path)) {
      files.push_back(
          {.name = path.string(), .prefix = std::move(prefix), .text = std::move(*text)});
    }
  } catch (const Error&) {
    // As git: what cannot be read has no rules.
  }
}

/// The `.gitignore` files above the directory, the nearest first.
void add_above(std::vector<OuterIgnoreFile>& files, const GitPlace& place) {
  for (std::string above = place.prefix; !above.empty();) {
    const auto slash = above.rfind('/');
    above.resize(slash == std::string::npos ? 0 : slash);
    const fs::path file = place.work_tree / above / ".gitignore";
    std::error_code code;
    if (!fs::is_symlink(file, code)) {  // which git does not follow
      add(files, file, place.prefix.substr(above.empty() ? 0 : above.size() + 1) + "/");
    }
  }
}

}  // namespace

std::shared_ptr<const GitWorkTree> find_git_work_tree(const fs::path& directory,
                                                      const Environment& environment) {
  if (!may_be_in_git(directory, environment)) {
    return nullptr;
  }
  std::optional<GitPlace> place;
  try {
    place = find_git_place(directory, environment);
  } catch (const Error&) {
    return nullptr;  // it is told where git's facts are asked for
  }
  if (!place || place->work_tree.empty()) {
    return nullptr;
  }
  auto tree = std::make_shared<GitWorkTree>();
  tree->prefix = place->prefix.empty() ? "" : place->prefix + "/";
  add_above(tree->outside, *place);
  const fs::path common{git().repository_commondir(place->repository.get())};
  add(tree->outside, common / "info" / "exclude", tree->prefix);
  add(tree->outside, global_excludes(*place, environment), tree->prefix);
  const auto shared = std::make_shared<GitPlace>(std::move(*place));
  tree->tracked = [shared, directory, environment](std::string_view nested) {
    if (nested.empty()) {
      return tracked_below(*shared);
    }
    try {
      const auto other = find_git_place(directory / nested, environment);
      return other && other->prefix.empty() ? tracked_below(*other) : std::vector<std::string>{};
    } catch (const Error&) {
      return std::vector<std::string>{};
    }
  };
  return tree;
}

}  // namespace autopack::source
