#include "source/git.hpp"
#include "source/git_changes.hpp"
#include "source/git_repository.hpp"

#include <git2.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::source {

namespace {

using Description =
    std::unique_ptr<git_describe_result, GitRelease<&GitFunctions::describe_result_free>>;

std::optional<std::string> checked_out_branch(const GitPlace& place) {
  git_reference* found = nullptr;
  if (git().reference_lookup(&found, place.repository.get(), "HEAD") != 0) {
    return std::nullopt;
  }
  const GitReference head{found};
  const char* const target = git().reference_symbolic_target(found);
  constexpr std::string_view branches{"refs/heads/"};
  const std::string_view name{target == nullptr ? "" : target};
  return name.starts_with(branches) ? std::optional<std::string>{name.substr(branches.size())}
                                    : std::nullopt;
}

GitObject described_commit(const GitPlace& place, const std::string& source) {
  if (source != worktree_source && source != index_source) {
    return find_commit(place, source);
  }
  git_object* commit = nullptr;
  const auto head = place.head();
  if (head) {
    git().object_lookup(&commit, place.repository.get(), &*head, GIT_OBJECT_COMMIT);
  }
  return GitObject{commit};
}

/// Returns `v1.2-0-g0123456789abcdef...`, which can be parsed whatever the tag's name; nothing if
/// there is no tag.
std::optional<std::string> long_description(const git_object& commit, const GitTagQuery& query) {
  git_describe_options options{};
  options.version = GIT_DESCRIBE_OPTIONS_VERSION;
  options.max_candidates_tags = GIT_DESCRIBE_DEFAULT_MAX_CANDIDATES_TAGS;
  options.describe_strategy = GIT_DESCRIBE_TAGS;
  options.pattern = query.match.c_str();
  options.only_follow_first_parent = query.first_parent ? 1 : 0;
  git_describe_result* found = nullptr;
  // libgit2 only reads it, but its parameter is not const.
  if (git().describe_commit(&found, const_cast<git_object*>(&commit), &options) != 0) {
    return std::nullopt;
  }
  const Description description{found};
  git_describe_format_options format{};
  format.version = GIT_DESCRIBE_FORMAT_OPTIONS_VERSION;
  format.abbreviated_size = GIT_DESCRIBE_DEFAULT_ABBREVIATED_SIZE;
  format.always_use_long_format = 1;
  git_buf text = GIT_BUF_INIT;
  std::optional<std::string> result;
  if (git().describe_format(&text, found, &format) == 0) {
    result.emplace(text.ptr, text.size);
  }
  git().buf_dispose(&text);
  return result;
}

}  // namespace

std::optional<GitDescription> describe_in_git(const std::filesystem::path& directory,
                                              const std::string& source,
                                              const Environment& environment,
                                              const GitTagQuery& query) {
  const auto place = find_git_place(directory, environment);
  const bool from_worktree = source == worktree_source;
  if (!place || (from_worktree && !place->work_tree)) {
    return std::nullopt;
  }
  GitDescription description{.shallow = git().repository_is_shallow(place->repository.get()) == 1,
                             .branch = checked_out_branch(*place)};
  const auto commit = described_commit(*place, source);
  const auto text = commit ? long_description(*commit, query) : std::nullopt;
  if (!text) {
    return description;
  }
  const auto hash = text->rfind('-');
  const auto distance = text->rfind('-', hash - 1);
  description.tag = text->substr(0, distance);
  description.at_tag = text->substr(distance, hash - distance) == "-0";
  if (description.at_tag && (from_worktree || source == index_source)) {
    description.dirty =
        from_worktree ? has_changes(*place, Untracked::passed_over) : has_staged(*place);
  }
  return description;
}

}  // namespace autopack::source
