#include "wheel/grouping.hpp"

#include "base/text.hpp"
#include "image/inflate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

// A raised version should upload one small layer, and a first push should not need a hundred
// layers, each of which costs requests and a slot of the engine. So large wheels have layers of
// their own, and small ones share a few, chosen by their names alone: a change of one wheel leaves
// the other layers, and their digests, as they were.

namespace autopack::wheel {

namespace {

/// From this size on a wheel has its own layer, so that a change of another wheel does not upload
/// it again.
constexpr std::uint64_t large{std::uint64_t{2} << 20U};
/// Parts of this size are pulled and unpacked in parallel.
constexpr std::uint64_t largest_layer{std::uint64_t{256} << 20U};
/// Target size of a layer of small wheels: if one of them changes, the whole layer is uploaded
/// again.
constexpr std::uint64_t shared_layer{std::uint64_t{2} << 20U};
constexpr std::size_t most_shared{16};
constexpr std::size_t most_warnings{20};

/// Wheels that must share a layer.
struct Unit {
  std::vector<std::size_t> wheels{};
  std::uint64_t size{0};
  std::string name{};
};

/// Finds wheels with common files.
class Overlaps {
public:
  explicit Overlaps(const std::vector<WheelFiles>& wheels) : wheels_{wheels}, unit_(wheels.size()) {
    std::iota(unit_.begin(), unit_.end(), std::size_t{0});
    for (std::size_t i = 0; i < wheels.size(); ++i) {
      for (const auto& file : wheels[i].files) {
        const auto [place, is_new] = owners_.try_emplace(file.path, i, file.content);
        if (!is_new) {
          join(i, file, place->second);
        }
      }
    }
    refuse_parents();
  }

  std::vector<Unit> units() {
    std::map<std::size_t, Unit> by_root;
    for (std::size_t i = 0; i < wheels_.size(); ++i) {
      auto& unit = by_root[root(i)];
      unit.wheels.push_back(i);
      unit.size += wheels_[i].size;
      unit.name = unit.name.empty() ? wheels_[i].name : std::min(unit.name, wheels_[i].name);
    }
    std::vector<Unit> units;
    for (auto& [first, unit] : by_root) {
      units.push_back(std::move(unit));
    }
    std::ranges::sort(units, [](const Unit& a, const Unit& b) { return a.name < b.name; });
    return units;
  }

  Problems warnings() const {
    Problems all;
    for (const auto& [pair, paths] : differing_) {
      if (all.size() == most_warnings) {
        break;
      }
      const auto& [first, count] = paths;
      all.push_back(Problem::warning(
          {.message = fmt::format("`{}` and `{}` both install the file `{}`{}, with different "
                                  "contents; the file of `{}` wins",
                                  wheels_[pair.first].name, wheels_[pair.second].name, first,
                                  count > 1 ? fmt::format(" and {} more", count - 1) : "",
                                  wheels_[pair.second].name)}));
    }
    return all;
  }

private:
  using Owner = std::pair<std::size_t, std::uint64_t>;  ///< wheel, content

  std::size_t root(std::size_t i) {
    while (unit_[i] != i) {
      unit_[i] = unit_[unit_[i]];
      i = unit_[i];
    }
    return i;
  }

  void join(std::size_t i, const WheelFile& file, Owner& owner) {
    const std::size_t a = root(i);
    const std::size_t b = root(owner.first);
    unit_[std::max(a, b)] = std::min(a, b);
    if (owner.second != file.content) {
      auto& [first, count] = differing_[{owner.first, i}];
      first = count == 0 ? file.path : first;
      ++count;
    }
    owner = {i, file.content};
  }

  void refuse_parents() const {
    // neither they nor their parents may be files
    std::unordered_set<std::string_view> directories;
    for (const auto& [path, owner] : owners_) {
      for (auto slash = path.rfind('/'); slash != std::string::npos && slash > 0;
           slash = path.rfind('/', slash - 1)) {
        if (!directories.insert(std::string_view{path}.substr(0, slash)).second) {
          break;
        }
        const auto found = owners_.find(path.substr(0, slash));
        if (found != owners_.end()) {
          throw Error(ErrorKind::project,
                      fmt::format("`{}` and `{}` cannot be installed together",
                                  wheels_[found->second.first].name, wheels_[owner.first].name))
              .cause("`" + found->first + "` is a file in one and a directory in the other");
        }
      }
    }
  }

  const std::vector<WheelFiles>& wheels_;
  std::vector<std::size_t> unit_;
  std::unordered_map<std::string, Owner> owners_{};
  std::map<std::pair<std::size_t, std::size_t>, std::pair<std::string, std::size_t>> differing_{};
};

std::uint64_t size_of(const std::vector<Unit>& units) {
  return std::accumulate(units.begin(), units.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Unit& unit) { return sum + unit.size; });
}

/// Returns a power of two, so that the number rarely changes: each change moves files between all
/// layers.
std::size_t shared_layers(const std::vector<Unit>& shared, std::size_t most) {
  const auto size = size_of(shared);
  std::size_t count = shared.empty() ? 0 : 1;
  while (count * 2 <= std::min(most, most_shared) && count * shared_layer < size) {
    count *= 2;
  }
  return count;
}

/// Returns one of `count` places for `name`. It does not depend on other names, and if `count`
/// grows, most names keep their place (rendezvous hashing).
std::size_t place_of(const std::string& name, std::size_t count) {
  std::size_t best = 0;
  std::string highest;
  for (std::size_t i = 0; i < count; ++i) {
    auto rank = sha256(fmt::format("{}/{}", i, name)).hex();
    if (rank > highest) {
      highest = std::move(rank);
      best = i;
    }
  }
  return best;
}

/// Splits a wheel into parts of at most `largest_layer`, or of one file.
std::vector<LayerGroup> split_wheel(std::size_t wheel, const std::vector<WheelFile>& files) {
  std::vector<LayerGroup> parts;
  std::size_t begin = 0;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (i > begin && size + files[i].packed_size > largest_layer) {
      parts.push_back({.wheels = {wheel}, .part = {{begin, i}}});
      begin = i;
      size = 0;
    }
    size += files[i].packed_size;
  }
  parts.push_back({.wheels = {wheel}, .part = {{begin, files.size()}}});
  if (parts.size() == 1) {
    parts.front().part.reset();
  }
  return parts;
}

void append(std::vector<std::size_t>& to, const std::vector<std::size_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Returns the layers of large and of small wheels. If there are too many, the smallest of the
/// large wheels join the small ones.
std::vector<LayerGroup> layers_of(const std::vector<Unit>& units,
                                  const std::vector<WheelFiles>& wheels,
                                  std::size_t most_layers) {
  std::vector<Unit> own;
  std::vector<Unit> shared;
  for (const auto& unit : units) {
    (unit.size >= large ? own : shared).push_back(unit);
  }
  std::ranges::stable_sort(own, [](const Unit& a, const Unit& b) { return a.size > b.size; });
  std::size_t count = shared_layers(shared, most_layers);
  while (own.size() + count > most_layers) {
    shared.push_back(std::move(own.back()));
    own.pop_back();
    count = shared_layers(shared, most_layers);
  }
  std::vector<LayerGroup> layers;
  std::size_t left = most_layers - count - own.size();
  for (const auto& unit : own) {
    std::vector<LayerGroup> parts{{.wheels = unit.wheels}};
    if (unit.wheels.size() == 1 && unit.size > largest_layer) {
      parts = split_wheel(unit.wheels[0], wheels[unit.wheels[0]].files);
    }
    if (parts.size() - 1 > left) {
      parts = {{.wheels = unit.wheels}};
    }
    left -= parts.size() - 1;
    layers.insert(layers.end(), parts.begin(), parts.end());
  }
  std::ranges::sort(shared, [](const Unit& a, const Unit& b) { return a.name < b.name; });
  std::vector<LayerGroup> places(count);
  for (const auto& unit : shared) {
    append(places[place_of(unit.name, count)].wheels, unit.wheels);
  }
  std::erase_if(places, [](const LayerGroup& place) { return place.wheels.empty(); });
  layers.insert(layers.end(), places.begin(), places.end());
  return layers;
}

}  // namespace

WheelFiles wheel_files(std::string name,
                       Digest digest,
                       std::uint64_t size,
                       const std::vector<InstalledFile>& files) {
  WheelFiles all{.name = std::move(name), .digest = std::move(digest), .size = size, .files = {}};
  for (const auto& file : files) {
    const auto* member = file.member;
    const std::uint32_t crc = member != nullptr ? member->crc : image::crc32(0, file.bytes);
    const std::uint64_t executable = file.mode == 0755 ? 1 : 0;
    all.files.push_back(
        {.path = file.path,
         .packed_size = member != nullptr ? member->compressed_size : file.bytes.size(),
         .content = (std::uint64_t{crc} << 32U) ^ (size_of(file) << 1U) ^ executable});
  }
  return all;
}

Grouping group(const std::vector<WheelFiles>& wheels, std::size_t most_layers) {
  Overlaps overlaps{wheels};
  return {.layers = layers_of(overlaps.units(), wheels, std::max<std::size_t>(most_layers, 1)),
          .warnings = overlaps.warnings()};
}

}  // namespace autopack::wheel
