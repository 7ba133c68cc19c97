#include "base/error.hpp"
#include "base/text.hpp"
#include "source/git.hpp"
#include "source/git_content.hpp"
#include "source/git_repository.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace autopack::source {

namespace {

constexpr Obstacle submodule{"a submodule, whose files this repository does not hold",
                             "`--source=worktree` includes them; `--exclude` leaves them out"};

constexpr std::uint32_t kind_bits{0170000};
constexpr std::uint32_t symlink_kind{0120000};
constexpr std::uint32_t submodule_kind{0160000};
constexpr std::uint32_t owner_executes{0100};
constexpr std::size_t piece_size{std::size_t{256} * 1024};

constexpr std::size_t longest_shown{100};
/// The longest path that a system opens (PATH_MAX).
constexpr std::size_t longest_path{4096};

/// Returns false for paths that git never adds: a damaged index may contain them.
bool is_of_a_tree(std::string_view path) {
  return path.size() <= longest_path && normalise(path) == path;
}

/// A name in the index below the project directory.
struct Item {
  std::string path{};
  git_oid id{};
  std::uint32_t mode{0};
  bool conflict{false};
};

class GitTree final : public Tree {
public:
  GitTree(GitPlace place, GitIndex index, std::string name)
      : place_{std::move(place)},
        index_{std::move(index)},
        name_{std::move(name)},
        contents_{place_.repository.get(), index_.get()},
        items_{items_below(*index_, place_.prefix)} {}

  bool empty() const { return items_.empty(); }

  std::optional<Entry> find(std::string_view path) const override {
    if (path.empty()) {
      return Entry{.type = EntryType::directory};
    }
    const auto found = at(path);
    if (found != items_.end() && found->path == path) {
      return entry_of(*found);
    }
    const std::string below = std::string{path} + "/";
    const auto first = at(below);
    return first != items_.end() && first->path.starts_with(below)
               ? std::optional{Entry{.path = std::string{path}, .type = EntryType::directory}}
               : std::nullopt;
  }

  std::vector<Entry> list(std::string_view path) const override {
    const std::string below = path.empty() ? std::string{} : std::string{path} + "/";
    std::vector<Entry> entries;
    for (auto item = at(below); item != items_.end() && item->path.starts_with(below);) {
      const auto slash = item->path.find('/', below.size());
      if (slash == std::string::npos) {
        entries.push_back(entry_of(*item++));
        continue;
      }
      const std::string directory = item->path.substr(0, slash);
      entries.push_back({.path = directory, .type = EntryType::directory});
      item = at(directory + static_cast<char>('/' + 1));
    }
    std::ranges::sort(entries, [](const Entry& a, const Entry& b) { return a.path < b.path; });
    return entries;
  }

  std::string read(std::string_view path) const override {
    const auto found = at(path);
    if (found == items_.end() || found->path != path) {
      throw Error(ErrorKind::project, fmt::format("could not read `{}`", printable(path)))
          .cause(fmt::format("it is not in {}", name_));
    }
    const Entry entry = entry_of(*found);
    if (entry.type != EntryType::file) {
      Error error{ErrorKind::project, fmt::format("`{}` is {}, not a file", printable(path),
                                                  entry.obstacle != nullptr ? entry.obstacle->what
                                                                            : "a symbolic link")};
      const auto remedy = entry.obstacle != nullptr ? entry.obstacle->remedy : std::nullopt;
      throw remedy ? error.hint(std::string{*remedy}) : error;
    }
    return contents_.read(place_.full_path(path), found->id);
  }

  void stream(std::string_view path,
              const std::function<void(std::string_view bytes)>& take) const override {
    const std::string text = read(path);
    for (std::size_t done = 0; done < text.size(); done += piece_size) {
      take(std::string_view{text}.substr(done, piece_size));
    }
  }

  std::string describe() const override { return name_; }

private:
  using Items = std::vector<Item>;

  static Items items_below(const git_index& index, const std::string& prefix);

  Items::const_iterator at(std::string_view path) const {
    return std::lower_bound(items_.begin(), items_.end(), path,
                            [](const Item& item, std::string_view p) { return item.path < p; });
  }

  Entry entry_of(const Item& item) const;

  GitPlace place_;
  GitIndex index_;
  std::string name_;
  GitContents contents_;
  Items items_;
};

GitTree::Items GitTree::items_below(const git_index& index, const std::string& prefix) {
  const std::string below = prefix.empty() ? std::string{} : prefix + "/";
  // libgit2's read-only functions have no const parameters.
  auto& readable = const_cast<git_index&>(index);
  Items items;
  for (std::size_t i = 0; i < git().index_entrycount(&readable); ++i) {
    const git_index_entry* entry = git().index_get_byindex(&readable, i);
    const std::string_view path{entry->path};
    if (!path.starts_with(below) || (entry->flags_extended & GIT_INDEX_ENTRY_INTENT_TO_ADD) != 0) {
      continue;
    }
    const std::string own{path.substr(below.size())};
    if (!is_of_a_tree(own)) {
      throw Error(ErrorKind::project, fmt::format("git names `{}`, which is not the path of a file",
                                                  printable(path.substr(0, longest_shown))))
          .hint("git fsck");
    }
    if (items.empty() || items.back().path != own) {
      items.push_back({.path = own,
                       .id = entry->id,
                       .mode = entry->mode,
                       .conflict = git().index_entry_stage(entry) != 0});
    }
  }
  std::ranges::sort(items, [](const Item& a, const Item& b) { return a.path < b.path; });
  return items;
}

Entry GitTree::entry_of(const Item& item) const {
  Entry entry{.path = item.path};
  const auto refuse = [&](const Obstacle& obstacle) {
    entry.type = EntryType::other;
    entry.obstacle = &obstacle;
  };
  if (item.conflict) {
    refuse(merge_conflict);
  } else if ((item.mode & kind_bits) == submodule_kind) {
    refuse(submodule);
  } else if ((item.mode & kind_bits) == symlink_kind) {
    entry.type = EntryType::symlink;
    entry.link_target = contents_.read_raw(item.path, item.id);
  } else {
    GitContent content = contents_.look(place_.full_path(item.path), item.id);
    entry.size = content.size;
    entry.executable = (item.mode & owner_executes) != 0;
    entry.identity = std::move(content.identity);
    if (content.obstacle != nullptr) {
      refuse(*content.obstacle);
    }
  }
  return entry;
}

}  // namespace

std::unique_ptr<Tree> make_git_tree(const std::filesystem::path& directory,
                                    const std::string& source,
                                    const Environment& environment) {
  GitPlace place = need_git_place(directory, source, environment);
  GitIndex index = open_source(place, source);
  std::string name = describe_source(place, source);
  const std::string prefix = place.prefix;
  place.repository = open_without_work_tree(place);
  auto tree = std::make_unique<GitTree>(std::move(place), std::move(index), std::move(name));
  if (tree->empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("{} holds no file{}", tree->describe(),
                            prefix.empty() ? "" : fmt::format(" in `{}`", printable(prefix))))
        .hint(source == index_source ? "`git add` stages files"
                                     : "`git ls-tree -r COMMIT` lists files");
  }
  return tree;
}

}  // namespace autopack::source
