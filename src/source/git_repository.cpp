#include "source/git_repository.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/zlib.hpp"
#include "source/git.hpp"
#include "source/git_functions.hpp"

#include <fmt/format.h>
#include <git2/sys/odb_backend.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::source {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece{65536};
constexpr std::size_t longest_header{32};
constexpr std::uint64_t largest_object{std::uint64_t{1} << 62U};
constexpr int before_all_others{100};
constexpr int most_alternates{5};

/// Returns the size of an object including its header, from the header `blob 12\0`; nothing if
/// `bytes` does not begin with a header.
std::optional<std::uint64_t> said_size(std::string_view bytes) {
  const auto end = bytes.find('\0');
  for (const std::string_view kind : {"blob ", "tree ", "commit ", "tag "}) {
    if (end == std::string_view::npos || !bytes.starts_with(kind)) {
      continue;
    }
    std::uint64_t size = 0;
    const auto number = bytes.substr(kind.size(), end - kind.size());
    const auto [stop, code] = std::from_chars(number.begin(), number.end(), size);
    const bool whole = code == std::errc{} && stop == number.end() && size < largest_object;
    return whole ? std::optional{end + 1 + size} : std::nullopt;
  }
  return std::nullopt;
}

/// Returns whether the compressed data in `path` is complete and has the size in its header:
/// otherwise libgit2 1.5 writes out of bounds. Returns true for a missing file.
bool is_whole(const fs::path& path) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) {
    return !fs::exists(fs::symlink_status(path, code));
  }
  std::ifstream file{path, std::ios::binary};
  z_stream stream = {};
  if (zlib().init(&stream, Zlib::zlib_format, ZLIB_VERSION, sizeof stream) != Z_OK) {
    return false;
  }
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> owner{&stream, zlib().end};
  std::vector<char> in(piece);
  std::vector<char> out(piece);
  std::string head;
  std::optional<std::uint64_t> wanted;
  std::uint64_t size = 0;
  int status = Z_OK;
  while (status == Z_OK || status == Z_BUF_ERROR) {
    if (stream.avail_in == 0) {
      file.read(in.data(), static_cast<std::streamsize>(in.size()));
      stream.next_in = reinterpret_cast<Bytef*>(in.data());
      stream.avail_in = static_cast<uInt>(file.gcount());
      if (stream.avail_in == 0) {
        return false;
      }
    }
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    status = zlib().inflate(&stream, Z_NO_FLUSH);
    const std::size_t count = out.size() - stream.avail_out;
    size += count;
    head.append(out.data(), std::min(count, longest_header - head.size()));
    wanted = wanted ? wanted : said_size(head);
    if (wanted ? size > *wanted : head.size() == longest_header) {
      return false;
    }
  }
  return status == Z_STREAM_END && size == wanted;
}

/// Adds `objects` and the directories in its `info/alternates`, each once.
void add_directories(const fs::path& objects, int depth, std::set<fs::path>& all) {
  std::error_code code;
  const fs::path place = fs::canonical(objects, code);
  if (code || !all.insert(place).second) {
    return;
  }
  std::optional<std::string> text;
  try {
    text =
        depth < most_alternates ? read_file_if_exists(place / "info" / "alternates") : std::nullopt;
  } catch (const Error&) {
    return;  // libgit2 reports it
  }
  for (const auto& line : split(text.value_or(""), '\n')) {
    if (!line.empty() && !line.starts_with('#')) {
      add_directories(place / line, depth + 1, all);
    }
  }
}

/// Contains no objects: returns "not here", so that the next backend is used, or the search ends.
class Guard final : public git_odb_backend {
public:
  explicit Guard(const fs::path& objects) : git_odb_backend{} {
    version = GIT_ODB_BACKEND_VERSION;
    add_directories(objects, 0, directories_);
    read = [](void**, std::size_t*, git_object_t*, git_odb_backend* self, const git_oid* id) {
      return static_cast<Guard*>(self)->check(hex(*id));
    };
    read_header = [](std::size_t*, git_object_t*, git_odb_backend* self, const git_oid* id) {
      return static_cast<Guard*>(self)->check(hex(*id));
    };
    read_prefix = [](git_oid*, void**, std::size_t*, git_object_t*, git_odb_backend* self,
                     const git_oid* id, std::size_t length) {
      return static_cast<Guard*>(self)->check_all(hex(*id).substr(0, length));
    };
    free = [](git_odb_backend* self) { delete static_cast<Guard*>(self); };
  }

private:
  int check(const std::string& id) noexcept;
  int check_all(const std::string& prefix) noexcept;

  std::set<fs::path> directories_{};
  std::set<std::string> whole_{};
};

int Guard::check(const std::string& id) noexcept {
  try {
    if (whole_.contains(id)) {
      return GIT_ENOTFOUND;
    }
    for (const auto& directory : directories_) {
      const fs::path file = directory / id.substr(0, 2) / id.substr(2);
      if (!is_whole(file)) {
        const std::string why =
            fmt::format("the object `{}` is damaged: `git fsck` lists the lost objects",
                        printable(file.string()));
        git().error_set_str(GIT_ERROR_ODB, why.c_str());
        return GIT_ERROR;
      }
    }
    whole_.insert(id);
    return GIT_ENOTFOUND;
  } catch (const std::exception& error) {
    git().error_set_str(GIT_ERROR_ODB, error.what());
    return GIT_ERROR;
  }
}

int Guard::check_all(const std::string& prefix) noexcept {
  try {
    for (const auto& directory : directories_) {
      const std::string folder = prefix.substr(0, 2);
      std::error_code code;
      for (fs::directory_iterator entry{directory / folder, code}, end; !code && entry != end;
           entry.increment(code)) {
        const std::string id = folder + entry->path().filename().string();
        const int answer =
            id.size() == GIT_OID_HEXSZ && id.starts_with(prefix) ? check(id) : GIT_ENOTFOUND;
        if (answer != GIT_ENOTFOUND) {
          return answer;
        }
      }
    }
    return GIT_ENOTFOUND;
  } catch (const std::exception& error) {
    git().error_set_str(GIT_ERROR_ODB, error.what());
    return GIT_ERROR;
  }
}

/// Makes libgit2 check the loose objects of `repository` before it reads them: it loops forever on
/// truncated data, and writes out of bounds if an object is larger than in its header. Reading
/// such an object fails, and git_reason() names it.
void guard_loose_objects(git_repository* repository) {
  git_odb* database = nullptr;
  if (git().repository_odb(&database, repository) != 0) {
    throw Error(ErrorKind::environment, "git's objects cannot be read").cause(git_reason());
  }
  const std::unique_ptr<git_odb, decltype(git().odb_free)> owner{database, git().odb_free};
  auto guard =
      std::make_unique<Guard>(fs::path{git().repository_commondir(repository)} / "objects");
  if (git().odb_add_backend(database, guard.get(), before_all_others) != 0) {
    throw Error(ErrorKind::environment, "git's objects cannot be read").cause(git_reason());
  }
  static_cast<void>(guard.release());
}

}  // namespace

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
              fmt::format("`{}` is not in a git repository, so there is no `--source={}`",
                          printable(fs::weakly_canonical(directory).string()), printable(source)))
      .hint("`--source=worktree` reads the files of the directory");
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
