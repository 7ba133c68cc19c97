#include "base/error.hpp"
#include "base/text.hpp"
#include "source/git.hpp"
#include "source/git_content.hpp"
#include "source/git_repository.hpp"

#include <fmt/format.h>

namespace autopack::source {

namespace {

constexpr std::uint32_t kind_bits{0170000};
constexpr std::uint32_t file_kind{0100000};

}  // namespace

bool is_in_git(const std::filesystem::path& directory, const Environment& environment) {
  return find_git_place(directory, environment).has_value();
}

std::optional<std::string> read_git_file(const std::filesystem::path& path,
                                         const std::string& source,
                                         const Environment& environment) {
  const auto directory = path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
  const GitPlace place = need_git_place(directory, source, environment);
  const GitIndex index = open_source(place, source);
  const std::string full = place.full_path(path.filename().string());
  const auto refuse = [&](std::string_view what, std::string_view remedy) {
    Error error{ErrorKind::project, fmt::format("`{}` in {} is {}", printable(full),
                                                describe_source(place, source), what)};
    throw remedy.empty() ? error : error.hint(std::string{remedy});
  };
  const git_index_entry* entry = git_index_get_bypath(index.get(), full.c_str(), 0);
  if (entry == nullptr) {
    std::size_t position = 0;
    if (git_index_find(&position, index.get(), full.c_str()) == 0) {
      refuse("a file with a merge conflict", "resolve it, then `git add` it");
    }
    return std::nullopt;
  }
  if ((entry->flags_extended & GIT_INDEX_ENTRY_INTENT_TO_ADD) != 0) {
    return std::nullopt;
  }
  if ((entry->mode & kind_bits) != file_kind) {
    refuse("a symbolic link or a submodule, not a file", "");
  }
  const GitRepository repository = open_without_work_tree(place);
  const GitContents contents{repository.get(), index.get()};
  const GitContent content = contents.look(full, entry->id);
  if (!content.obstacle.empty()) {
    refuse(content.obstacle, content.remedy);
  }
  return contents.read(full, entry->id);
}

}  // namespace autopack::source
