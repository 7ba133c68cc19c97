#include "source/git_changes.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <string>

namespace autopack::source {

namespace {

Error no_comparison(const GitPlace& place) {
  return Error(ErrorKind::environment,
               fmt::format("git's changes in `{}` cannot be determined", place.describe()))
      .cause(git_reason());
}

}  // namespace

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

bool has_changes(const GitPlace& place, Untracked untracked) {
  static_cast<void>(open_index(place));  // gives a better message
  std::string prefix = place.prefix;
  char* paths = prefix.data();
  git_status_options options{};
  options.version = GIT_STATUS_OPTIONS_VERSION;
  options.flags = GIT_STATUS_OPT_DISABLE_PATHSPEC_MATCH;
  if (untracked == Untracked::counts) {
    options.flags |= GIT_STATUS_OPT_INCLUDE_UNTRACKED;
  }
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

}  // namespace autopack::source
