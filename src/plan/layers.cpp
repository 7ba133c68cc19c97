#include "plan/layers.hpp"

#include "base/digest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
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
  return entry.entry.size <= largest_source &&
         std::any_of(source_suffixes.begin(), source_suffixes.end(),
                     [&](std::string_view suffix) { return entry.path.ends_with(suffix); });
}

std::size_t kind_of(const ContextEntry& entry) {
  if (entry.entry.type == source::EntryType::file && entry.entry.size >= megabyte) {
    return large;
  }
  // Links and empty directories weigh nothing: they travel with the code.
  return entry.entry.type != source::EntryType::file || is_source(entry) ? code : data;
}

std::size_t layer_count(std::uint64_t size, std::uint64_t layer_size) {
  std::size_t count = 1;
  while (count < most_layers && size > count * layer_size) {
    count *= 2;
  }
  return count;
}

/// Stable whatever the other files are: the same path goes to the same one of `count` layers.
std::size_t bucket(const std::string& path, std::size_t count) {
  return count == 1 ? 0 : std::stoul(sha256(path).hex().substr(0, 4), nullptr, 16) % count;
}

/// Where `path` of the context stands in the image when `copy` brings it; empty when it does not.
std::string destination(const Copy& copy, const std::string& path) {
  std::string rest;
  if (copy.source.empty()) {
    rest = path;
  } else if (path == copy.source) {
    rest = "";
  } else if (copy.is_directory && path.starts_with(copy.source + "/")) {
    rest = path.substr(copy.source.size() + 1);
  } else {
    return {};
  }
  std::string result{directory};
  for (const std::string& part : {copy.destination, rest}) {
    if (!part.empty()) {
      result += "/" + part;
    }
  }
  return result;
}

/// Each entry at every place the copies put it; a later copy wins, as in a Dockerfile.
std::map<std::string, const ContextEntry*> placed(const Plan& plan) {
  std::map<std::string, const ContextEntry*> entries;
  for (const Copy& copy : plan.copies) {
    for (const ContextEntry& entry : plan.code) {
      const bool is_outside = entry.path.starts_with(extras_directory);
      if (copy.source.empty() && is_outside) {
        continue;
      }
      if (auto path = destination(copy, entry.path); !path.empty()) {
        entries[std::move(path)] = &entry;
      }
    }
  }
  return entries;
}

void add_parents(std::map<std::string, const ContextEntry*>& entries) {
  std::set<std::string> parents;
  for (const auto& [path, entry] : entries) {
    for (auto slash = path.rfind('/'); slash != std::string::npos;
         slash = path.rfind('/', slash - 1)) {
      if (!parents.insert(path.substr(0, slash)).second) {
        break;
      }
    }
  }
  for (const auto& parent : parents) {
    entries.try_emplace(parent, nullptr);
  }
}

struct Group {
  std::map<std::string, const ContextEntry*> entries{};
  std::uint64_t size{0};
};

Layer make_layer(std::string name, Group group) {
  add_parents(group.entries);
  Layer layer{.name = std::move(name), .size = group.size};
  for (const auto& [path, entry] : group.entries) {
    layer.entries.push_back({.path = path, .entry = entry});
  }
  return layer;
}

}  // namespace

std::vector<Layer> code_layers(const Plan& plan) {
  std::array<Group, kinds.size()> groups;
  for (const auto& [path, entry] : placed(plan)) {
    Group& group = groups.at(kind_of(*entry));
    group.entries.emplace(path, entry);
    group.size += entry->entry.size;
  }
  std::vector<Layer> layers;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const std::size_t count = layer_count(groups.at(kind).size, kinds.at(kind).layer_size);
    std::vector<Group> parts(count);
    for (const auto& [path, entry] : groups.at(kind).entries) {
      Group& part = parts[bucket(path, count)];
      part.entries.emplace(path, entry);
      part.size += entry->entry.size;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!parts[i].entries.empty()) {
        const std::string name{kinds.at(kind).name};
        layers.push_back(
            make_layer(count == 1 ? name : fmt::format("{} {} of {}", name, i + 1, count),
                       std::move(parts[i])));
      }
    }
  }
  return layers;
}

}  // namespace autopack::plan
