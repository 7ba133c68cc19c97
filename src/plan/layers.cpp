#include "plan/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace autopack::plan {

namespace {

constexpr std::string_view directory{"usr/app"};
constexpr std::uint64_t megabyte{1'000'000};
constexpr std::size_t most_layers{16};
constexpr std::size_t usual_path{64};  // bytes, with some room
/// Larger than files edited by hand: tables, word lists, generated modules.
constexpr std::uint64_t largest_source{64'000};

struct Kind {
  std::string_view name;
  std::uint64_t layer_size;  ///< target size in bytes
};

constexpr std::array kinds{Kind{"large files", 64 * megabyte}, Kind{"data", 4 * megabyte},
                           Kind{"code", megabyte / 2}};
constexpr std::size_t large{0};
constexpr std::size_t data{1};
constexpr std::size_t code{2};

/// In order.
constexpr std::array<std::string_view, 22> source_suffixes{
    ".bash", ".c",     ".cc", ".cfg", ".cpp", ".cu", ".h",   ".hpp",  ".ini", ".ipynb", ".json",
    ".md",   ".proto", ".py", ".pyi", ".pyx", ".sh", ".sql", ".toml", ".txt", ".yaml",  ".yml"};
static_assert(std::ranges::is_sorted(source_suffixes));

bool is_source(const ContextEntry& entry) {
  const std::string_view path{entry.path};
  const auto suffix = path.substr(std::min(path.rfind('.'), path.size()));
  return entry.size <= largest_source &&
         std::binary_search(source_suffixes.begin(), source_suffixes.end(), suffix);
}

std::size_t kind_of(const ContextEntry& entry) {
  if (entry.type == source::EntryType::file && entry.size >= megabyte) {
    return large;
  }
  // Links and empty directories are tiny: they are sent with the code.
  return entry.type != source::EntryType::file || is_source(entry) ? code : data;
}

std::size_t layer_count(std::uint64_t size, std::uint64_t layer_size) {
  std::size_t count = 1;
  while (count < most_layers && size > count * layer_size) {
    count *= 2;
  }
  return count;
}

/// Stable whatever the other files are: the same path gives the same one of `count` layers. FNV-1a
/// of 64 bits; only the balance depends on it.
std::size_t bucket(std::string_view path, std::size_t count) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : path) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return (hash >> 32U) % count;
}

/// Appends the place of `path` of the context in the image if `copy` includes it; nothing
/// otherwise.
void append_place(std::string& paths, const Copy& copy, std::string_view path) {
  const std::size_t length = copy.source.size();
  if (length > 0) {
    const bool is_below = copy.is_directory && path.size() > length && path[length] == '/';
    if (!path.starts_with(copy.source) || (path.size() > length && !is_below)) {
      return;
    }
    path.remove_prefix(std::min(length + 1, path.size()));
  }
  paths.append(directory);
  for (const std::string_view part : {std::string_view{copy.destination}, path}) {
    if (!part.empty()) {
      paths.append("/").append(part);
    }
  }
}

bool is_before(const LayerEntry& a, const LayerEntry& b) {
  return a.path < b.path;
}

/// Sorts by path and removes duplicates; keeps the last one.
void put_in_order(std::vector<LayerEntry>& entries) {
  const auto is_out_of_order = [](const LayerEntry& a, const LayerEntry& b) {
    return a.path >= b.path;
  };
  if (std::ranges::adjacent_find(entries, is_out_of_order) == entries.end()) {
    return;
  }
  std::ranges::stable_sort(entries, is_before);
  const auto last =
      std::unique(entries.rbegin(), entries.rend(),
                  [](const LayerEntry& a, const LayerEntry& b) { return a.path == b.path; });
  entries.erase(entries.begin(), last.base());
}

/// Adds each entry at every place of the copies, and its path to `paths`; a later copy overrides an
/// earlier one, as in a Dockerfile.
std::vector<LayerEntry> place_entries(const Plan& plan, std::string& paths) {
  std::vector<LayerEntry> entries;
  std::vector<std::size_t> ends;
  entries.reserve(plan.code.size());
  ends.reserve(plan.code.size());
  paths.reserve(plan.code.size() * usual_path);
  for (const Copy& copy : plan.copies) {
    for (const ContextEntry& entry : plan.code) {
      const std::size_t before = paths.size();
      if (!copy.source.empty() || !entry.path.starts_with(extras_directory)) {
        append_place(paths, copy, entry.path);
      }
      if (paths.size() > before) {
        entries.push_back({.entry = &entry});
        ends.push_back(paths.size());
      }
    }
  }
  std::size_t begin = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].path = std::string_view{paths}.substr(begin, ends[i] - begin);
    begin = ends[i];
  }
  put_in_order(entries);
  return entries;
}

/// Returns `entries`, which are sorted, with the directories that only contain others.
std::vector<LayerEntry> with_parents(const std::vector<LayerEntry>& entries) {
  std::vector<std::string_view> parents;
  std::string_view last;  // of consecutive entries
  for (const LayerEntry& item : entries) {
    const std::string_view path = item.path;
    auto slash = path.rfind('/');
    if (slash == std::string_view::npos || path.substr(0, slash) == last) {
      continue;
    }
    last = path.substr(0, slash);
    for (; slash != std::string_view::npos; slash = path.rfind('/', slash - 1)) {
      parents.push_back(path.substr(0, slash));
    }
  }
  std::ranges::sort(parents);
  parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
  std::vector<LayerEntry> all;
  all.reserve(entries.size() + parents.size());
  auto next = entries.begin();
  for (const std::string_view parent : parents) {
    for (; next != entries.end() && next->path < parent; ++next) {
      all.push_back(*next);
    }
    if (next == entries.end() || next->path != parent) {
      all.push_back({.path = parent});
    }
  }
  all.insert(all.end(), next, entries.end());
  return all;
}

std::uint64_t size_of(const std::vector<LayerEntry>& entries) {
  return std::accumulate(
      entries.begin(), entries.end(), std::uint64_t{0},
      [](std::uint64_t sum, const LayerEntry& item) { return sum + item.entry->size; });
}

}  // namespace

PlacedCode placed_code(const Plan& plan, const std::vector<std::string>& made) {
  const auto paths = std::make_shared<std::string>();
  PlacedCode result{.entries = place_entries(plan, *paths)};
  if (!made.empty()) {
    std::erase_if(result.entries, [&](const LayerEntry& item) {
      const std::string_view path =
          item.path.substr(std::min(directory.size() + 1, item.path.size()));
      return item.entry->type != source::EntryType::directory &&
             std::binary_search(made.begin(), made.end(), path);
    });
  }
  result.paths = paths;
  return result;
}

bool has_open_directories(const Plan& plan) {
  const auto& user = plan.user;
  return !user.empty() && user != "root" && user != "0" && !user.starts_with("root:") &&
         !user.starts_with("0:");
}

std::vector<PlannedLayer> code_layers(const Plan& plan, const std::vector<std::string>& made) {
  const PlacedCode code_in_place = placed_code(plan, made);
  const std::vector<LayerEntry>& all = code_in_place.entries;
  std::array<std::uint64_t, kinds.size()> sizes{};
  std::vector<std::uint8_t> kind_at;
  kind_at.reserve(all.size());
  for (const LayerEntry& item : all) {
    const std::size_t kind = kind_of(*item.entry);
    kind_at.push_back(static_cast<std::uint8_t>(kind));
    sizes.at(kind) += item.entry->size;
  }
  std::array<std::vector<std::vector<LayerEntry>>, kinds.size()> parts;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    parts.at(kind).resize(layer_count(sizes.at(kind), kinds.at(kind).layer_size));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& of_kind = parts.at(kind_at[i]);
    of_kind[bucket(all[i].path, of_kind.size())].push_back(all[i]);
  }
  std::vector<PlannedLayer> layers;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const std::size_t count = parts.at(kind).size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto& entries = parts.at(kind)[i];
      if (!entries.empty()) {
        const std::string name{kinds.at(kind).name};
        layers.push_back(
            {.name = count == 1 ? name : fmt::format("{} {} of {}", name, i + 1, count),
             .entries = with_parents(entries),
             .size = size_of(entries),
             .paths = code_in_place.paths});
      }
    }
  }
  return layers;
}

}  // namespace autopack::plan
