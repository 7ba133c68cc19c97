#include "source/git_content.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "source/git_functions.hpp"
#include "source/git_repository.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

namespace {

/// A file of git attributes.
struct GitAttributesFile {
  std::string name{};  ///< for messages
  std::string text{};
};

/// Returns the existing attributes files of the clone, the user and the machine.
std::vector<std::filesystem::path> attributes_outside(git_repository* repository);

namespace fs = std::filesystem;

using Names = std::set<std::string, std::less<>>;

constexpr std::string_view macro{"[attr]"};
constexpr std::string_view spaces{" \t\r"};

/// Returns the names after the pattern of a line, without values and signs.
Names names_in(std::string_view attributes) {
  Names names;
  for (const auto& part : split(replace_all(std::string{attributes}, "\t", " "), ' ')) {
    std::string_view word = trim(part);
    word.remove_prefix(std::min(word.find_first_not_of("-!"), word.size()));
    names.emplace(word.substr(0, word.find('=')));
  }
  return names;
}

/// Returns attributes that change a checkout: git's own, and all macros, whatever they expand to.
Names changing(const std::vector<GitAttributesFile>& files) {
  Names names{"binary", "crlf", "eol", "filter", "ident", "text", "working-tree-encoding"};
  for (const auto& file : files) {
    for (const auto& line : split(file.text, '\n')) {
      std::string_view rest = trim(line);
      if (rest.starts_with(macro)) {
        rest.remove_prefix(macro.size());
        names.emplace(rest.substr(0, rest.find_first_of(spaces)));
      }
    }
  }
  return names;
}

std::vector<fs::path> attributes_outside(git_repository* repository) {
  std::vector<fs::path> paths{fs::path{git().repository_commondir(repository)} / "info" /
                              "attributes"};
  const auto add_text = [&](git_buf& text, const char* name) {
    for (const std::string& path : split({text.ptr, text.size}, ':')) {
      paths.push_back(*name == 0 ? fs::path{path} : fs::path{path} / name);
    }
    git().buf_dispose(&text);
  };
  git_config* config = nullptr;
  git_buf set = GIT_BUF_INIT;
  if (git().repository_config(&config, repository) == 0) {
    const GitConfig owner{config};
    if (git().config_get_path(&set, config, "core.attributesfile") == 0) {
      add_text(set, "");
    }
  }
  for (const int level : {GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_SYSTEM}) {
    git_buf found = GIT_BUF_INIT;
    if (git().libgit2_opts(GIT_OPT_GET_SEARCH_PATH, level, &found) == 0) {
      add_text(found, level == GIT_CONFIG_LEVEL_XDG ? "attributes" : "gitattributes");
    }
  }
  std::erase_if(paths, [](const fs::path& path) {
    std::error_code code;
    return !fs::exists(path, code);
  });
  return paths;
}

/// Finds patterns that git and libgit2 interpret differently. git reads a pattern in double quotes
/// as in C, libgit2 treats the quotes as part of the name; git ignores a pattern that begins with
/// `!`, libgit2 applies it to everything that it does not match. Throws Error(project) naming the
/// line if the attributes of such a pattern change a checkout, directly or as a macro of any of
/// `files`.
void refuse_misread_patterns(const std::vector<GitAttributesFile>& files) {
  const Names changing_names = changing(files);
  const auto changes = [&](std::string_view attributes) {
    const Names names = names_in(attributes);
    return std::ranges::any_of(names,
                               [&](const auto& name) { return changing_names.contains(name); });
  };
  const auto refusal = [](const GitAttributesFile& file, std::size_t line, const char* kind) {
    return Error(ErrorKind::project,
                 fmt::format("`{}` line {} has a {} pattern, which autopack cannot follow",
                             printable(file.name), line, kind))
        .hint("`--source=worktree` reads the files as they are checked out");
  };
  for (const auto& file : files) {
    std::size_t number = 0;
    for (const auto& line : split(file.text, '\n')) {
      ++number;
      const auto rest = trim(line);
      const auto end = rest.rfind('"');
      if (rest.starts_with('"') && end > 0 && changes(rest.substr(end + 1))) {
        throw refusal(file, number, "quoted")
            .hint("write `[[:space:]]` for a space, and no quotes");
      }
      if (rest.starts_with('!') && changes(rest)) {
        throw refusal(file, number, "negative")
            .hint("git ignores such a line, with a warning: remove it");
      }
    }
  }
}

}  // namespace

namespace fs = std::filesystem;

namespace {

/// The placeholder in git for a file that Git LFS stores elsewhere.
struct LfsPointer {
  std::string object{};  ///< SHA-256 in hexadecimal digits
  std::uint64_t size{0};
};

constexpr std::size_t largest_pointer{1024};

std::optional<LfsPointer> parse_pointer(std::string_view text) {
  constexpr std::string_view object_key{"oid sha256:"};
  constexpr std::string_view size_key{"size "};
  if (!text.starts_with("version https://git-lfs.github.com/spec/") ||
      text.size() > largest_pointer) {
    return std::nullopt;
  }
  LfsPointer pointer;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with(object_key)) {
      pointer.object = line.substr(object_key.size());
    } else if (line.starts_with(size_key)) {
      std::from_chars(line.data() + size_key.size(), line.data() + line.size(), pointer.size);
    }
  }
  const bool whole = pointer.object.size() == 64 &&
                     pointer.object.find_first_not_of("0123456789abcdef") == std::string::npos;
  return whole ? std::optional{pointer} : std::nullopt;
}

bool has_setting(git_repository* repository, const std::string& name) {
  git_config* config = nullptr;
  git_config_entry* entry = nullptr;
  if (git().repository_config(&config, repository) != 0) {
    return false;
  }
  const GitConfig owner{config};
  const bool found =
      git().config_get_entry(&entry, config, name.c_str()) == 0 && *entry->value != 0;
  git().config_entry_free(entry);
  return found;
}

/// Returns true for settings that change contents without an attribute.
bool changes_line_ends(git_repository* repository) {
  return has_setting(repository, "core.autocrlf") || has_setting(repository, "core.eol");
}

constexpr std::string_view take_checkout{"`--source=worktree` reads it as it is checked out"};
constexpr Obstacle encoded{"a file that `working-tree-encoding` changes at checkout",
                           take_checkout};
constexpr Obstacle filtered{"a file that a filter of your git settings changes at checkout",
                            take_checkout};
constexpr Obstacle with_ident{"a file whose `$Id$` git changes at checkout", take_checkout};
constexpr Obstacle not_fetched{"a Git LFS file that this clone has not fetched",
                               "`git lfs fetch` fetches it; `--exclude` leaves it out"};

}  // namespace

GitContents::GitContents(git_repository* repository, git_index* index) : repository_{repository} {
  std::vector<GitAttributesFile> files;
  for (std::size_t i = 0; i < git().index_entrycount(index); ++i) {
    const git_index_entry& entry = *git().index_get_byindex(index, i);
    const std::string path{entry.path};
    if (path == ".gitattributes" || path.ends_with("/.gitattributes")) {
      files.push_back({.name = path, .text = read_raw(path, entry.id)});
    }
  }
  for (const auto& path : attributes_outside(repository)) {
    files.push_back({.name = path.string(), .text = read_file_if_exists(path).value_or("")});
  }
  refuse_misread_patterns(files);
  has_attributes_ = !files.empty() || changes_line_ends(repository);
  // Attributes must come from the same index, even if another process stages files meanwhile.
  git().repository_set_index(repository, index);
}

GitContents::Attributes GitContents::attributes_of(const std::string& path) const {
  std::array<const char*, 3> names{"filter", "working-tree-encoding", "ident"};
  std::array<const char*, 3> values{};
  if (git().attr_get_many(values.data(), repository_, GIT_ATTR_CHECK_INDEX_ONLY, path.c_str(),
                          names.size(), names.data()) != 0) {
    throw Error(ErrorKind::project,
                fmt::format("the git attributes of `{}` cannot be read", printable(path)))
        .cause(git_reason());
  }
  Attributes attributes;
  if (git().attr_value(values[0]) == GIT_ATTR_VALUE_STRING) {
    const std::string driver = values[0];
    attributes.lfs = driver == "lfs";
    attributes.foreign_filter =
        !attributes.lfs && (has_setting(repository_, fmt::format("filter.{}.smudge", driver)) ||
                            has_setting(repository_, fmt::format("filter.{}.process", driver)));
  }
  attributes.encoding = git().attr_value(values[1]) == GIT_ATTR_VALUE_STRING &&
                        to_lower(values[1]) != "utf-8" && to_lower(values[1]) != "utf8";
  attributes.ident = git().attr_value(values[2]) == GIT_ATTR_VALUE_TRUE;
  return attributes;
}

GitBlob GitContents::blob(const std::string& path, const git_oid& id) const {
  git_blob* found = nullptr;
  if (git().blob_lookup(&found, repository_, &id) != 0) {
    throw Error(ErrorKind::project, fmt::format("git has no contents of `{}`", printable(path)))
        .cause(git_reason())
        .hint(fmt::format("in a partial clone this fetches them: git cat-file -e {}", hex(id)));
  }
  return GitBlob{found};
}

std::string GitContents::read_raw(const std::string& path, const git_oid& id) const {
  const std::scoped_lock lock{mutex_};
  const GitBlob found = blob(path, id);
  return {static_cast<const char*>(git().blob_rawcontent(found.get())),
          static_cast<std::size_t>(git().blob_rawsize(found.get()))};
}

std::string GitContents::checked_out(const std::string& path, const git_oid& id) const {
  const GitBlob found = blob(path, id);
  git_filter_list* list = nullptr;
  git_buf bytes = GIT_BUF_INIT;
  int code = git().filter_list_load(&list, repository_, found.get(), path.c_str(),
                                    GIT_FILTER_TO_WORKTREE, GIT_FILTER_ALLOW_UNSAFE);
  const GitFilters filters{list};
  if (code == 0 && list == nullptr) {
    return {static_cast<const char*>(git().blob_rawcontent(found.get())),
            static_cast<std::size_t>(git().blob_rawsize(found.get()))};
  }
  code = code == 0 ? git().filter_list_apply_to_blob(&bytes, list, found.get()) : code;
  std::string text = code == 0 ? std::string{bytes.ptr, bytes.size} : std::string{};
  git().buf_dispose(&bytes);
  if (code != 0) {
    throw Error(ErrorKind::project,
                fmt::format("`{}` cannot be written as git checks it out", printable(path)))
        .cause(git_reason());
  }
  return text;
}

fs::path GitContents::lfs_file(std::string_view object) const {
  return fs::path{git().repository_commondir(repository_)} / "lfs" / "objects" /
         object.substr(0, 2) / object.substr(2, 2) / object;
}

GitContent GitContents::look(const std::string& path, const git_oid& id) const {
  const std::string identity = "git " + hex(id);
  const std::scoped_lock lock{mutex_};
  if (!has_attributes_) {
    git_odb* database = nullptr;
    std::size_t size = 0;
    git_object_t type = GIT_OBJECT_INVALID;
    const bool known = git().repository_odb(&database, repository_) == 0 &&
                       git().odb_read_header(&size, &type, database, &id) == 0;
    git().odb_free(database);
    if (!known) {
      static_cast<void>(blob(path, id));  // throws with the reason
    }
    return {.size = size, .identity = identity};
  }
  const Attributes attributes = attributes_of(path);
  if (attributes.encoding) {
    return {.obstacle = &encoded};
  }
  if (attributes.foreign_filter) {
    return {.obstacle = &filtered};
  }
  const GitBlob found = blob(path, id);
  const std::string_view raw{static_cast<const char*>(git().blob_rawcontent(found.get())),
                             static_cast<std::size_t>(git().blob_rawsize(found.get()))};
  if (const auto pointer = attributes.lfs ? parse_pointer(raw) : std::nullopt) {
    std::error_code code;
    if (fs::file_size(lfs_file(pointer->object), code) != pointer->size || code) {
      return {.obstacle = &not_fetched};
    }
    return {.size = pointer->size, .identity = identity + " lfs"};
  }
  // libgit2 replaces only the first of them.
  if (attributes.ident && raw.find("$Id") != std::string_view::npos) {
    return {.obstacle = &with_ident};
  }
  const std::string text = checked_out(path, id);
  return {.size = text.size(), .identity = text == raw ? std::optional{identity} : std::nullopt};
}

std::string GitContents::read(const std::string& path, const git_oid& id) const {
  if (!has_attributes_) {
    return read_raw(path, id);
  }
  const std::scoped_lock lock{mutex_};
  if (attributes_of(path).lfs) {
    const GitBlob found = blob(path, id);
    const std::string_view raw{static_cast<const char*>(git().blob_rawcontent(found.get())),
                               static_cast<std::size_t>(git().blob_rawsize(found.get()))};
    if (const auto pointer = parse_pointer(raw)) {
      return read_file(lfs_file(pointer->object));
    }
  }
  return checked_out(path, id);
}

}  // namespace autopack::source
