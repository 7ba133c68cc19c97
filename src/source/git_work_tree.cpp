#include "source/git_work_tree.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "source/git_repository.hpp"
#include "source/unread_git_settings.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace autopack::source {

namespace fs = std::filesystem;

namespace {

/// Returns the nearest directory at or above `directory` that has a `.git`.
std::optional<fs::path> place_of_git(const fs::path& directory) {
  std::error_code code;
  for (fs::path at = fs::weakly_canonical(fs::absolute(directory, code), code);;
       at = at.parent_path()) {
    if (fs::exists(at / ".git", code)) {
      return at;
    }
    if (!at.has_relative_path()) {
      return std::nullopt;
    }
  }
}

/// Returns false if git would find no repository; does not need libgit2.
bool may_be_in_git(const fs::path& directory, const Environment& environment) {
  return environment.get("GIT_DIR") || place_of_git(directory);
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
  if (!std::ranges::is_sorted(paths)) {
    std::ranges::sort(paths);
  }
  return paths;
}

/// The same; empty if the index is unreadable.
std::vector<std::string> tracked_quietly(const GitPlace& place) {
  try {
    return tracked_below(place);
  } catch (const Error&) {
    return {};
  }
}

/// Returns null if the settings are unreadable.
GitConfig settings_of(const GitPlace& place) {
  git_config* config = nullptr;
  const int code = git().repository_config_snapshot(&config, place.repository.get());
  return GitConfig{code == 0 ? config : nullptr};
}

std::optional<std::string> setting(const GitConfig& config, const char* name) {
  git_buf buffer = {};
  if (!config || git().config_get_string_buf(&buffer, config.get(), name) != 0) {
    return std::nullopt;
  }
  std::string value{buffer.ptr, buffer.size};
  git().buf_dispose(&buffer);
  return value;
}

Letters letters_of(const GitConfig& config) {
  int ignores_case = 0;
  const bool is_set =
      config && git().config_get_bool(&ignores_case, config.get(), "core.ignorecase") == 0;
  return is_set && ignores_case != 0 ? Letters::either_case : Letters::as_written;
}

fs::path global_excludes(const GitConfig& config, const Environment& environment) {
  if (const auto named = setting(config, "core.excludesfile")) {
    const bool is_home = named->starts_with("~/");
    return is_home ? environment.home() / named->substr(2) : fs::path{*named};
  }
  return git_directory_of_user(environment) / "ignore";
}

/// Appends the file `path` if it exists.
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
    // As in git: an unreadable file has no rules.
  }
}

/// Appends the `.gitignore` files above the directory `prefix` of the work tree, the nearest first.
void add_above(std::vector<OuterIgnoreFile>& files,
               const fs::path& work_tree,
               const std::string& prefix) {
  for (std::string above = prefix; !above.empty();) {
    const auto slash = above.rfind('/');
    above.resize(slash == std::string::npos ? 0 : slash);
    const fs::path file = work_tree / above / ".gitignore";
    std::error_code code;
    if (!fs::is_symlink(file, code)) {  // git does not follow it
      add(files, file, prefix.substr(above.empty() ? 0 : above.size() + 1) + "/");
    }
  }
}

/// Settings about ignore files.
struct Settings {
  fs::path work_tree{};
  std::string prefix{};  ///< the directory in it; "" for its root
  fs::path common{};     ///< the repository's directory, shared by its work trees
  Letters letters{Letters::as_written};
  fs::path global_excludes{};
  bool is_unopened{false};  ///< git would not open the repository
};

std::optional<Settings> plain_settings(const fs::path& directory, const Environment& environment) {
  const auto found = find_plain_repository(directory, environment);
  if (!found) {
    return std::nullopt;
  }
  std::error_code code;
  const auto inside = fs::canonical(directory, code).lexically_relative(found->work_tree).string();
  return Settings{.work_tree = found->work_tree,
                  .prefix = inside == "." ? "" : inside,
                  .common = found->directory,
                  .global_excludes = git_directory_of_user(environment) / "ignore"};
}

/// For a repository that git would not open: reads only parts that execute and configure nothing.
std::optional<Settings> settings_without_git(const fs::path& directory,
                                             const Environment& environment) {
  const auto root = place_of_git(directory);
  if (!root) {
    return std::nullopt;
  }
  std::error_code code;
  const auto inside = fs::canonical(directory, code).lexically_relative(*root).string();
  return Settings{.work_tree = *root,
                  .prefix = inside == "." ? "" : inside,
                  .common = *root / ".git",
                  .global_excludes = git_directory_of_user(environment) / "ignore",
                  .is_unopened = true};
}

std::optional<Settings> settings_by_libgit2(const fs::path& directory,
                                            const Environment& environment) {
  try {
    const auto place = find_git_place(directory, environment);
    if (!place || !place->work_tree) {
      return std::nullopt;
    }
    const auto config = settings_of(*place);
    return Settings{.work_tree = *place->work_tree,
                    .prefix = place->prefix,
                    .common = git().repository_commondir(place->repository.get()),
                    .letters = letters_of(config),
                    .global_excludes = global_excludes(config, environment)};
  } catch (const Error& error) {
    return error.kind() == ErrorKind::environment ? settings_without_git(directory, environment)
                                                  : std::nullopt;
  }
}

/// Returns the repository that begins at `directory`, or, if it need not be the root, that contains
/// it.
std::optional<GitPlace> place_of_tracked(const fs::path& directory,
                                         bool is_root,
                                         const Environment& environment) {
  try {
    auto place = find_git_place(directory, environment);
    return place && is_root && !place->prefix.empty() ? std::nullopt : std::move(place);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<Problem> unread_git_settings(const fs::path& directory,
                                           const Environment& environment) {
  const auto root = place_of_git(directory);
  if (!root || find_plain_repository(directory, environment)) {
    return std::nullopt;
  }
  try {
    find_git_place(directory, environment);
    return std::nullopt;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment) {
      return std::nullopt;
    }
    Problem problem{
        .severity = Problem::Severity::warning,
        .message = fmt::format("git does not open the repository `{}`: {}; only its ignore files "
                               "exclude files",
                               printable(root->string()),
                               error.causes().empty() ? error.message() : error.causes().back())};
    if (!error.hints().empty()) {
      problem.hints.push_back(trusting_command(*root));
    }
    return problem;
  }
}

std::shared_ptr<const GitWorkTree> find_git_work_tree(const fs::path& directory,
                                                      const Environment& environment) {
  if (!may_be_in_git(directory, environment)) {
    return nullptr;
  }
  auto settings = plain_settings(directory, environment);
  if (!settings) {
    settings = settings_by_libgit2(directory, environment);
  }
  if (!settings) {
    return nullptr;
  }
  auto tree = std::make_shared<GitWorkTree>();
  tree->prefix = settings->prefix.empty() ? "" : settings->prefix + "/";
  tree->letters = settings->letters;
  add_above(tree->outside, settings->work_tree, settings->prefix);
  add(tree->outside, settings->common / "info" / "exclude", tree->prefix);
  add(tree->outside, settings->global_excludes, tree->prefix);
  const auto index = settings->common / "index";
  std::error_code code;
  if (settings->is_unopened && fs::is_regular_file(index, code)) {
    tree->tracked = [index, prefix = settings->prefix](std::string_view nested) {
      return nested.empty() ? tracked_quietly({.index_file = index, .prefix = prefix})
                            : std::vector<std::string>{};
    };
    return tree;
  }
  tree->tracked = [directory, environment](std::string_view nested) {
    const auto place = place_of_tracked(directory / nested, !nested.empty(), environment);
    if (!place) {
      return std::vector<std::string>{};
    }
    try {
      return tracked_below(*place);
    } catch (const Error&) {
      if (nested.empty()) {
        throw;
      }
      return std::vector<std::string>{};
    }
  };
  return tree;
}

namespace fs = std::filesystem;

namespace {

/// Variables that may select another repository, or another tree.
constexpr std::array<std::string_view, 6> variables{
    "GIT_DIR",        "GIT_WORK_TREE",           "GIT_COMMON_DIR",
    "GIT_INDEX_FILE", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"};

/// Settings that matter here, and sections that may contain them.
constexpr std::array<std::string_view, 6> words{"excludesfile", "extensions", "ignorecase",
                                                "include",      "safe",       "worktree"};

/// Returns true if `path` exists or cannot be inspected.
bool may_be_there(const fs::path& path) {
  std::error_code code;
  return fs::exists(fs::symlink_status(path, code)) || (code && code.value() != ENOENT);
}

bool is_own(const fs::path& path, dev_t device) {
  struct stat status = {};

  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && status.st_dev == device;
}

/// Returns the value of the only line of lower-case `text` that sets `key`; "" if there is none.
std::string_view value_of(std::string_view text, std::string_view key) {
  const auto begin = text.find(key);
  if (begin == std::string_view::npos) {
    return {};
  }
  if (text.find(key, begin + 1) != std::string_view::npos) {
    return "several";
  }
  const auto line = text.substr(begin + key.size());
  const auto value = trim(line.substr(0, line.find('\n')));
  return value.starts_with('=') ? trim(value.substr(1)) : "unusual";
}

bool is_value(std::string_view text, std::string_view key, std::string_view usual) {
  const auto value = value_of(text, key);
  return value.empty() || value == usual;
}

/// Returns false if the settings in `file` may matter.
bool says_nothing(const fs::path& file) {
  try {
    const auto text = to_lower(read_file_if_exists(file).value_or(""));
    const auto names = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    return std::ranges::none_of(words, names) && is_value(text, "bare", "false") &&
           is_value(text, "repositoryformatversion", "0");
  } catch (const Error&) {
    return false;
  }
}

bool is_plain(const fs::path& work_tree, dev_t device) {
  const fs::path directory = work_tree / ".git";
  const auto is_directory = [](const fs::path& path) {
    std::error_code code;
    return fs::is_directory(path, code);
  };
  return is_own(work_tree, device) && is_own(directory, device) &&
         is_directory(directory / "objects") && is_directory(directory / "refs") &&
         may_be_there(directory / "HEAD") && !may_be_there(directory / "commondir") &&
         !may_be_there(directory / "config.worktree");
}

}  // namespace

fs::path git_directory_of_user(const Environment& environment) {
  const auto configured = environment.get("XDG_CONFIG_HOME");
  return (configured ? fs::path{*configured} : environment.home() / ".config") / "git";
}

std::optional<PlainRepository> find_plain_repository(const fs::path& directory,
                                                     const Environment& environment) {
  if (std::ranges::any_of(variables,
                          [&](auto name) { return environment.get(name).has_value(); })) {
    return std::nullopt;
  }
  std::error_code code;
  fs::path at = fs::canonical(directory, code);

  struct stat status = {};

  if (code || ::stat(at.c_str(), &status) != 0) {
    return std::nullopt;
  }
  while (!may_be_there(at / ".git")) {
    // A directory with a HEAD may be a bare repository.
    if (!at.has_relative_path() || may_be_there(at / "HEAD")) {
      return std::nullopt;
    }
    at = at.parent_path();
  }
  const std::array<fs::path, 4> settings{at / ".git" / "config", environment.home() / ".gitconfig",
                                         git_directory_of_user(environment) / "config",
                                         "/etc/gitconfig"};
  const bool is_usual = is_plain(at, status.st_dev) && std::ranges::all_of(settings, says_nothing);
  return is_usual ? std::optional{PlainRepository{.work_tree = at, .directory = at / ".git"}}
                  : std::nullopt;
}

}  // namespace autopack::source
