#include "base/url.hpp"
#include "source/git.hpp"
#include "source/git_changes.hpp"
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

/// Returns the remote of the branch, else `origin`, else the only one.
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

std::optional<std::string> remote_url(const GitPlace& place) {
  git_config* found = nullptr;
  if (git().repository_config_snapshot(&found, place.repository.get()) != 0) {
    return std::nullopt;
  }
  const GitConfig config{found};
  const auto url = setting(config, fmt::format("remote.{}.url", remote_name(place, config)));
  return url ? std::optional{redact_url(*url)} : std::nullopt;
}

}  // namespace

std::optional<GitFacts> find_git_facts(const std::filesystem::path& directory,
                                       const std::string& source,
                                       const Environment& environment) {
  const auto place = find_git_place(directory, environment);
  const bool from_worktree = source == worktree_source;
  if (!place || (from_worktree && !place->work_tree)) {
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
  facts.dirty = from_worktree ? has_changes(*place, Untracked::counts) : has_staged(*place);
  return facts;
}

}  // namespace autopack::source
