#include "plan/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

namespace autopack::plan {

namespace {

constexpr std::string_view directory{"usr/app"};
constexpr std::uint64_t megabyte{1'000'000};
constexpr std::size_t most_layers{16};
/// Larger than what people edit by hand: tables, word lists, generated modules.
constexpr std::uint64_t largest_source{64'000};

struct Kind {
  std::string_view name;
  std::uint64_t layer_size;  ///< aimed at, in bytes
};

constexpr std::array kinds{Kind{"large files", 64 * megabyte}, Kind{"data", 16 * megabyte},
                           Kind{"code", 4 * megabyte}};
constexpr std::size_t large{0};
constexpr std::size_t data{1};
constexpr std::size_t code{2};

constexpr std::array<std::string_view, 22> source_suffixes{
    ".py",  ".pyi",  ".pyx",  ".ipynb", ".sh",  ".bash", ".c",  ".cc",   ".cpp", ".cu",    ".h",
    ".hpp", ".toml", ".yaml", ".yml",   ".cfg", ".ini",  ".md", ".json", ".txt", ".proto", ".sql"};

bool is_source(const ContextEntry& entry) {
  const std::string_view path{entry.path};
  const auto suffix = path.substr(std::min(path.rfind('.'), path.size()));
  return entry.size <= largest_source &&
         std::find(source_suffixes.begin(), source_suffixes.end(), suffix) != source_suffixes.end();
}

std::size_t kind_of(const ContextEntry& entry) {
  if (entry.type == source::EntryType::file && entry.size >= megabyte) {
    return large;
  }
  // Links and empty directories weigh nothing: they travel with the code.
  return entry.type != source::EntryType::file || is_source(entry) ? code : data;
}

std::size_t layer_count(std::uint64_t size, std::uint64_t layer_size) {
  std::size_t count = 1;
  while (count < most_layers && size > count * layer_size) {
    count *= 2;
  }
  return count;
}

/// Stable whatever the other files are: the same path goes to the same one of `count` layers.
/// FNV-1a of 64 bits; nothing but balance hangs on it.
std::size_t bucket(std::string_view path, std::size_t count) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : path) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return (hash >> 32U) % count;
}

/// Where `path` of the context stands in the image when `copy` brings it; empty when it does not.
std::string destination(const Copy& copy, std::string_view path) {
  const std::size_t length = copy.source.size();
  if (length > 0) {
    const bool is_below = copy.is_directory && path.size() > length && path[length] == '/';
    if (!path.starts_with(copy.source) || (path.size() > length && !is_below)) {
      return {};
    }
    path.remove_prefix(std::min(length + 1, path.size()));
  }
  std::string result;
  result.reserve(directory.size() + copy.destination.size() + path.size() + 2);
  result = directory;
  for (const std::string_view part : {std::string_view{copy.destination}, path}) {
    if (!part.empty()) {
      result.append("/").append(part);
    }
  }
  return result;
}

/// Sorted by path, each path once: of equal ones the last.
void put_in_order(std::vector<LayerEntry>& entries) {
  const auto is_out_of_order = [](const LayerEntry& a, const LayerEntry& b) {
    return a.path >= b.path;
  };
  if (std::adjacent_find(entries.begin(), entries.end(), is_out_of_order) == entries.end()) {
    return;
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const LayerEntry& a, const LayerEntry& b) { return a.path < b.path; });
  const auto last =
      std::unique(entries.rbegin(), entries.rend(),
                  [](const LayerEntry& a, const LayerEntry& b) { return a.path == b.path; });
  entries.erase(entries.begin(), last.base());
}

/// Each entry at every place the copies put it; a later copy wins, as in a Dockerfile.
std::vector<LayerEntry> placed(const Plan& plan) {
  std::vector<LayerEntry> entries;
  entries.reserve(plan.code.size());
  for (const Copy& copy : plan.copies) {
    for (const ContextEntry& entry : plan.code) {
      const bool is_outside = entry.path.starts_with(extras_directory);
      if (copy.source.empty() && is_outside) {
        continue;
      }
      if (auto path = destination(copy, entry.path); !path.empty()) {
        entries.push_back({.path = std::move(path), .entry = &entry});
      }
    }
  }
  put_in_order(entries);
  return entries;
}

/// The directories that only hold others.
void add_parents(std::vector<LayerEntry>& entries) {
  std::set<std::string, std::less<>> parents;
  std::string_view last;  // of what comes one after the other
  for (const LayerEntry& item : entries) {
    const std::string_view path = item.path;
    const auto parent = path.substr(0, std::min(path.rfind('/'), path.size()));
    if (parent == last) {
      continue;
    }
    last = parent;
    for (auto slash = path.rfind('/'); slash != std::string_view::npos;
         slash = path.rfind('/', slash - 1)) {
      if (parents.contains(path.substr(0, slash))) {
        break;
      }
      parents.emplace(path.substr(0, slash));
    }
  }
  for (const LayerEntry& item : entries) {
    parents.erase(item.path);
  }
  for (const auto& parent : parents) {
    entries.push_back({.path = parent});
  }
}

Layer make_layer(std::string name, std::vector<LayerEntry> entries) {
  Layer layer{.name = std::move(name), .entries = std::move(entries)};
  for (const LayerEntry& item : layer.entries) {
    layer.size += item.entry->size;
  }
  add_parents(layer.entries);
  put_in_order(layer.entries);
  return layer;
}

}  // namespace

std::vector<Layer> code_layers(const Plan& plan) {
  std::vector<LayerEntry> all = placed(plan);
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
    of_kind[bucket(all[i].path, of_kind.size())].push_back(std::move(all[i]));
  }
  std::vector<Layer> layers;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const std::size_t count = parts.at(kind).size();
    for (std::size_t i = 0; i < count; ++i) {
      auto& entries = parts.at(kind)[i];
      if (!entries.empty()) {
        const std::string name{kinds.at(kind).name};
        layers.push_back(
            make_layer(count == 1 ? name : fmt::format("{} {} of {}", name, i + 1, count),
                       std::move(entries)));
      }
    }
  }
  return layers;
}

}  // namespace autopack::plan
