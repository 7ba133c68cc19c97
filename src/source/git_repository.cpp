#include "source/git_repository.hpp"

#include "base/text.hpp"
#include "source/git.hpp"
#include "source/loose_objects.hpp"

#include <fmt/format.h>

#include <array>

namespace autopack::source {

namespace fs = std::filesystem;

namespace {

Error no_repository(const fs::path& path, int code) {
  Error error{ErrorKind::environment,
              fmt::format("the git repository of `{}` cannot be opened", printable(path.string()))};
  error.cause(code == GIT_EOWNER ? "it belongs to somebody else, and git does not trust it"
                                 : git_reason());
  if (code == GIT_EOWNER) {
    error.hint(trusting_command(path));
  }
  return error;
}

/// Returns the nearest existing directory above: a commit may contain one that was removed.
fs::path existing_ancestor(fs::path path) {
  std::error_code code;
  while (!fs::is_directory(path, code) && path.has_relative_path()) {
    path = path.parent_path();
  }
  return path;
}

std::optional<GitRepository> open_repository(const fs::path& directory,
                                             const Environment& environment) {
  git_repository* repository = nullptr;
  const auto git_dir = environment.get("GIT_DIR");
  constexpr unsigned no_search{GIT_REPOSITORY_OPEN_NO_SEARCH};
  const auto ceiling = environment.get("GIT_CEILING_DIRECTORIES").value_or("");
  const fs::path start = git_dir ? fs::path{*git_dir} : existing_ancestor(directory);
  int code = git().repository_open_ext(&repository, start.c_str(), git_dir ? no_search : 0U,
                                       ceiling.c_str());
  // Without any `safe.directory` setting, libgit2 1.5 reports a foreign owner's repository, and the
  // setting, as not found.
  const git_error* const failure = code == GIT_ENOTFOUND ? git().error_last() : nullptr;
  if (failure != nullptr && failure->klass == GIT_ERROR_CONFIG) {
    code = GIT_EOWNER;
  }
  if (code == GIT_ENOTFOUND && !git_dir) {
    return std::nullopt;
  }
  if (code != 0) {
    throw no_repository(start, code);
  }
  GitRepository owner{repository};
  guard_loose_objects(repository);
  return owner;
}

/// If each working tree has its own settings, git reads one more file.
void add_worktree_settings(git_repository* repository) {
  git_config* config = nullptr;
  int enabled = 0;
  const fs::path file = fs::path{git().repository_path(repository)} / "config.worktree";
  std::error_code code;
  if (git().repository_config(&config, repository) != 0) {
    return;
  }
  const GitConfig owner{config};
  if (git().config_get_bool(&enabled, config, "extensions.worktreeconfig") == 0 && enabled != 0 &&
      fs::exists(file, code)) {
    git().config_add_file_ondisk(config, file.c_str(), GIT_CONFIG_LEVEL_APP, repository, 1);
  }
}

/// Returns `path`; nothing if it is empty.
std::optional<fs::path> found(const fs::path& path) {
  return path.empty() ? std::nullopt : std::optional{path};
}

/// Returns the root of the repository's tree on the disk; for a bare repository, its replacement.
fs::path find_root(GitPlace& place, const Environment& environment) {
  std::error_code code;
  if (const auto work_tree = environment.get("GIT_WORK_TREE")) {
    fs::path root = fs::weakly_canonical(fs::absolute(*work_tree, code), code);
    git().repository_set_workdir(place.repository.get(), root.c_str(), 0);
    place.work_tree = found(root);
    return root;
  }
  if (const char* work_tree = git().repository_workdir(place.repository.get())) {
    fs::path root = fs::weakly_canonical(work_tree, code);
    place.work_tree = found(root);
    return root;
  }
  // As in git: a bare repository in GIT_DIR has its tree in the current directory.
  return environment.get("GIT_DIR")
             ? fs::current_path(code)
             : fs::weakly_canonical(git().repository_path(place.repository.get()), code);
}

}  // namespace

std::string trusting_command(const fs::path& path) {
  return fmt::format("if you trust its owner: git config --global --add safe.directory {}",
                     shell_quote(path.string()));
}

std::string git_reason() {
  const git_error* error = git().error_last();
  return error != nullptr && error->message != nullptr && *error->message != '\0'
             ? error->message
             : "git gives no reason";
}

std::optional<git_oid> GitPlace::head() const {
  git_oid id;
  return git().reference_name_to_id(&id, repository.get(), "HEAD") == 0 ? std::optional{id}
                                                                        : std::nullopt;
}

std::string GitPlace::full_path(std::string_view path) const {
  return prefix.empty() || path.empty() ? prefix + std::string{path}
                                        : fmt::format("{}/{}", prefix, path);
}

std::string GitPlace::describe() const {
  const std::string path =
      work_tree ? work_tree->string() : git().repository_path(repository.get());
  return path.size() > 1 && path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
}

std::optional<GitPlace> find_git_place(const fs::path& directory, const Environment& environment) {
  std::error_code code;
  const fs::path whole = fs::weakly_canonical(fs::absolute(directory, code), code);
  auto repository = open_repository(whole, environment);
  if (!repository) {
    return std::nullopt;
  }
  GitPlace place{.repository = std::move(*repository)};
  add_worktree_settings(place.repository.get());
  const fs::path root = find_root(place, environment);
  const auto relative = whole.lexically_relative(root).lexically_normal().string();
  if (relative.empty() || relative == ".." || relative.starts_with("../")) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` is not in the git repository `{}`", printable(whole.string()),
                            printable(place.describe())))
        .hint("unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE");
  }
  place.prefix = relative == "." ? "" : relative;
  const fs::path in_repository = fs::path{git().repository_path(place.repository.get())} / "index";
  const auto index_file = environment.get("GIT_INDEX_FILE");
  place.index_file = index_file ? root / *index_file : in_repository;
  return place;
}

GitRepository open_without_work_tree(const GitPlace& place) {
  git_repository* bare = nullptr;
  const char* path = git().repository_path(place.repository.get());
  // The owner was checked when the place was found, under the trusted name.
  if (const int code = git().repository_open_bare(&bare, path); code != 0) {
    throw no_repository(path, code);
  }
  GitRepository owner{bare};
  add_worktree_settings(bare);
  guard_loose_objects(bare);
  return owner;
}

GitObject find_commit(const GitPlace& place, const std::string& revision) {
  git_object* object = nullptr;
  git_object* commit = nullptr;
  const int code = git().revparse_single(&object, place.repository.get(), revision.c_str());
  const GitObject owner{object};
  if (code == 0 && git().object_peel(&commit, object, GIT_OBJECT_COMMIT) == 0) {
    return GitObject{commit};
  }
  throw Error(ErrorKind::usage, fmt::format("`{}` names no commit of the git repository `{}`",
                                            printable(revision), printable(place.describe())))
      .cause(git_reason())
      .hint("`--source` takes `worktree`, `index`, a branch, a tag, `HEAD~1`, ...");
}

GitTreeObject tree_of_commit(const git_object& commit) {
  git_tree* tree = nullptr;
  if (git().commit_tree(&tree, reinterpret_cast<const git_commit*>(&commit)) != 0) {
    throw Error(ErrorKind::environment, "the tree of a commit cannot be read").cause(git_reason());
  }
  return GitTreeObject{tree};
}

GitIndex open_index(const GitPlace& place) {
  git_index* index = nullptr;
  if (git().index_open(&index, place.index_file.c_str()) == 0) {
    return GitIndex{index};
  }
  Error error{ErrorKind::project,
              fmt::format("git's index `{}` cannot be read", printable(place.index_file.string()))};
  const std::string reason = git_reason();
  error.cause(reason);
  if (reason.find("'sdir'") != std::string::npos) {
    error.hint("git sparse-checkout reapply --no-sparse-index");
  }
  if (reason.find("'link'") != std::string::npos) {
    error.hint("git update-index --no-split-index");
  }
  throw std::move(error);
}

std::string hex(const git_oid& id) {
  std::array<char, GIT_OID_HEXSZ + 1> text{};
  return git().oid_tostr(text.data(), text.size(), &id);
}

GitPlace need_git_place(const fs::path& directory,
                        const std::string& source,
                        const Environment& environment) {
  if (auto place = find_git_place(directory, environment)) {
    return std::move(*place);
  }
  throw Error(ErrorKind::usage,
              fmt::format("`{}` is in no git repository, so there is no `--source={}`",
                          printable(fs::weakly_canonical(directory).string()), printable(source)))
      .hint("`--source=worktree` takes the files as they are in the directory");
}

GitIndex open_source(const GitPlace& place, const std::string& source) {
  if (source == index_source) {
    return open_index(place);
  }
  const GitObject commit = find_commit(place, source);
  const GitTreeObject tree = tree_of_commit(*commit);
  git_index* index = nullptr;
  const bool made = git().index_new(&index) == 0;
  GitIndex owner{index};
  if (!made || git().index_read_tree(index, tree.get()) != 0) {
    throw Error(ErrorKind::environment, "the files of a commit cannot be listed")
        .cause(git_reason());
  }
  return owner;
}

std::string describe_source(const GitPlace& place, const std::string& source) {
  return source == index_source ? fmt::format("git's index of `{}`", place.describe())
                                : fmt::format("`{}` of `{}`", printable(source), place.describe());
}

}  // namespace autopack::source
