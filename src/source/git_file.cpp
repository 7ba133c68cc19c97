#include "base/error.hpp"
#include "base/text.hpp"
#include "source/git.hpp"
#include "source/git_content.hpp"
#include "source/git_repository.hpp"

#include <fmt/format.h>

namespace autopack::source {

namespace {

constexpr std::uint32_t file_kind_bits{0170000};
constexpr std::uint32_t file_kind{0100000};

std::optional<std::string> read_at(const GitPlace& place,
                                   const std::string& full,
                                   const std::string& source) {
  const GitIndex index = open_source(place, source);
  const auto refuse = [&](const Obstacle& obstacle) {
    Error error{ErrorKind::project, fmt::format("`{}` in {} is {}", printable(full),
                                                describe_source(place, source), obstacle.what)};
    throw obstacle.remedy ? error.hint(std::string{*obstacle.remedy}) : error;
  };
  const git_index_entry* entry = git().index_get_bypath(index.get(), full.c_str(), 0);
  if (entry == nullptr) {
    std::size_t position = 0;
    if (git().index_find(&position, index.get(), full.c_str()) == 0) {
      refuse(merge_conflict);
    }
    return std::nullopt;
  }
  if ((entry->flags_extended & GIT_INDEX_ENTRY_INTENT_TO_ADD) != 0) {
    return std::nullopt;
  }
  if ((entry->mode & file_kind_bits) != file_kind) {
    refuse({"a symbolic link or a submodule, not a file"});
  }
  const GitRepository repository = open_without_work_tree(place);
  const GitContents contents{repository.get(), index.get()};
  const GitContent content = contents.look(full, entry->id);
  if (content.obstacle != nullptr) {
    refuse(*content.obstacle);
  }
  return contents.read(full, entry->id);
}

}  // namespace

bool is_in_git(const std::filesystem::path& directory, const Environment& environment) {
  return find_git_place(directory, environment).has_value();
}

std::optional<std::string> read_git_file(const std::filesystem::path& path,
                                         const std::string& source,
                                         const Environment& environment) {
  const auto directory = path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
  const GitPlace place = need_git_place(directory, source, environment);
  return read_at(place, place.full_path(path.filename().string()), source);
}

GitFile find_git_file(const std::filesystem::path& file,
                      const std::string& source,
                      const Environment& environment) {
  namespace fs = std::filesystem;
  const auto place = find_git_place(".", environment);
  if (!place) {
    return {};
  }
  // The file itself may be a link: git stores the link.
  std::error_code code;
  const fs::path parent = file.has_parent_path() ? file.parent_path() : fs::path{"."};
  const fs::path from_here = fs::weakly_canonical(fs::absolute(parent, code), code)
                                 .lexically_relative(fs::weakly_canonical(fs::current_path(code)));
  const auto full = (fs::path{place->prefix} / from_here / file.filename()).lexically_normal();
  if (full.empty() || *full.begin() == "..") {
    return {};
  }
  return {.inside = true, .path = full.string(), .text = read_at(*place, full.string(), source)};
}

}  // namespace autopack::source
