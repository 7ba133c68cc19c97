#include "source/plain_repository.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

namespace autopack::source {

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
