#include "plan/pointers.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace autopack::plan {

namespace {

/// The size of a pointer (git-lfs's docs/spec.md), with room for extensions.
constexpr std::uint64_t smallest_pointer{100};
constexpr std::uint64_t largest_pointer{1024};
constexpr std::uint64_t largest_attributes{1'000'000};
constexpr std::size_t most_paths_reported{3};

bool uses_lfs(const source::Tree& tree) {
  const auto entry = tree.find(".gitattributes");
  return entry && entry->type == source::EntryType::file && entry->size <= largest_attributes &&
         tree.read(entry->path).find("filter=lfs") != std::string::npos;
}

bool is_pointer(const std::string& text) {
  return text.starts_with("version https://git-lfs.github.com/spec/") &&
         text.find("\noid sha256:") != std::string::npos;
}

}  // namespace

bool is_unfetched(const ReadablePlan& plan, const ContextEntry& entry) {
  return entry.type == source::EntryType::file && entry.size >= smallest_pointer &&
         entry.size <= largest_pointer && is_pointer(plan.read(entry));
}

Problems unfetched_files(const ReadablePlan& plan) {
  const PlacedTree& place = plan.trees.front();
  if (!uses_lfs(*place.tree)) {
    return {};
  }
  std::vector<std::string> paths;
  for (const ContextEntry& entry : plan.code) {
    if (entry.tree == 0 && is_unfetched(plan, entry)) {
      paths.push_back(fmt::format("`{}`", printable(entry.path)));
    }
  }
  if (paths.empty()) {
    return {};
  }
  const std::size_t shown = std::min(paths.size(), most_paths_reported);
  std::string list = join(std::span{paths}.first(shown), ", ");
  if (shown < paths.size()) {
    list += fmt::format(" and {} more", paths.size() - shown);
  }
  return {Problem::warning(
      {.message = fmt::format("{} {} of Git LFS, and {} missing", list,
                              paths.size() == 1 ? "is a pointer" : "are pointers",
                              paths.size() == 1 ? "its content is" : "their contents are"),
       .hints = {"git lfs pull"}})};
}

}  // namespace autopack::plan
