#include "base/url.hpp"
#include "source/git.hpp"
#include "source/git_repository.hpp"

#include <fmt/format.h>

namespace autopack::source {

namespace {

std::optional<std::string> setting(const GitConfig& config, const std::string& name) {
  git_buf value = GIT_BUF_INIT;
  const int code = git().config_get_string_buf(&value, config.get(), name.c_str());
  std::optional<std::string> text;
  if (code == 0) {
    text = std::string{value.ptr, value.size};
  }
  git().buf_dispose(&value);
  return text;
}

/// The remote of the branch, else `origin`, else the only one.
std::string remote_name(const GitPlace& place, const GitConfig& config) {
  git_reference* found = nullptr;
  if (git().reference_lookup(&found, place.repository.get(), "HEAD") == 0) {
    const GitReference head{found};
    const char* target = git().reference_symbolic_target(found);
    const std::string branch = target == nullptr ? "" : target;
    constexpr std::string_view branches{"refs/heads/"};
    if (branch.starts_with(branches)) {
      const auto remote =
          setting(config, fmt::format("branch.{}.remote", branch.substr(branches.size())));
      if (remote && *remote != ".") {
        return *remote;
      }
    }
  }
  git_strarray names{};
  std::string name = "origin";
  if (git().remote_list(&names, place.repository.get()) == 0 && names.count == 1) {
    name = names.strings[0];
  }
  git().strarray_dispose(&names);
  return name;
}

std::string remote_url(const GitPlace& place) {
  git_config* found = nullptr;
  if (git().repository_config_snapshot(&found, place.repository.get()) != 0) {
    return {};
  }
  const GitConfig config{found};
  const auto url = setting(config, fmt::format("remote.{}.url", remote_name(place, config)));
  return url ? redact_url(*url) : std::string{};
}

Error no_comparison(const GitPlace& place) {
  return Error(ErrorKind::environment,
               fmt::format("git's changes in `{}` cannot be told", place.describe()))
      .cause(git_reason());
}

/// Whether something is staged below the directory.
bool has_staged(const GitPlace& place) {
  GitTreeObject tree;
  if (const auto id = place.head()) {
    git_object* commit = nullptr;
    if (git().object_lookup(&commit, place.repository.get(), &*id, GIT_OBJECT_COMMIT) != 0) {
      throw no_comparison(place);
    }
    tree = tree_of_commit(*GitObject{commit});
  }
  std::string prefix = place.prefix;
  char* paths = prefix.data();
  git_diff_options options{};
  options.version = GIT_DIFF_OPTIONS_VERSION;
  options.flags = GIT_DIFF_DISABLE_PATHSPEC_MATCH;
  options.ignore_submodules = GIT_SUBMODULE_IGNORE_UNSPECIFIED;
  options.pathspec = {&paths, prefix.empty() ? 0U : 1U};
  const GitIndex index = open_index(place);
  git_diff* diff = nullptr;
  if (git().diff_tree_to_index(&diff, place.repository.get(), tree.get(), index.get(), &options) !=
      0) {
    throw no_comparison(place);
  }
  const bool staged = git().diff_num_deltas(diff) != 0;
  git().diff_free(diff);
  return staged;
}

/// Whether a file below the directory is changed, staged or not yet known to git.
bool has_changes(const GitPlace& place) {
  static_cast<void>(open_index(place));  // says better what cannot be read
  std::string prefix = place.prefix;
  char* paths = prefix.data();
  git_status_options options{};
  options.version = GIT_STATUS_OPTIONS_VERSION;
  options.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_DISABLE_PATHSPEC_MATCH;
  options.pathspec = {&paths, prefix.empty() ? 0U : 1U};
  constexpr int changed = 1;
  const int code = git().status_foreach_ext(
      place.repository.get(), &options,
      [](const char*, unsigned status, void*) {
        return status == GIT_STATUS_CURRENT || status == GIT_STATUS_IGNORED ? 0 : changed;
      },
      nullptr);
  if (code < 0) {
    throw no_comparison(place);
  }
  return code == changed;
}

}  // namespace

std::optional<GitFacts> find_git_facts(const std::filesystem::path& directory,
                                       const std::string& source,
                                       const Environment& environment) {
  const auto place = find_git_place(directory, environment);
  const bool from_worktree = source == worktree_source;
  if (!place || (from_worktree && place->work_tree.empty())) {
    return std::nullopt;
  }
  GitFacts facts{.remote = remote_url(*place)};
  if (!from_worktree && source != index_source) {
    facts.revision = hex(*git().object_id(find_commit(*place, source).get()));
    return facts;
  }
  if (const auto head = place->head()) {
    facts.revision = hex(*head);
  }
  facts.dirty = from_worktree ? has_changes(*place) : has_staged(*place);
  return facts;
}

}  // namespace autopack::source
