#pragma once

#include "base/digest.hpp"
#include "base/error.hpp"
#include "wheel/installation.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::wheel {

/// A file that a wheel brings, as far as it decides which layer it comes into.
struct BroughtFile {
  std::string path{};
  std::uint64_t packed_size{0};
  std::uint64_t content{0};  ///< the same for the same bytes and mode

  bool operator==(const BroughtFile&) const = default;
};

/// What a wheel brings.
struct Brought {
  std::string name{};              ///< normalised
  Digest digest;                   ///< of the wheel
  std::uint64_t size{0};           ///< of the wheel, in bytes
  std::vector<BroughtFile> files;  ///< in the order of its installation
};

/// Which wheels, or which part of one, a layer is made of.
struct LayerGroup {
  std::vector<std::size_t> wheels{};  ///< by their places in the list; a later one's files win
  /// Of a wheel that is split: the first of its files and the one behind the last.
  std::optional<std::pair<std::size_t, std::size_t>> part{};

  bool operator==(const LayerGroup&) const = default;
};

struct Grouping {
  std::vector<LayerGroup> layers{};
  Problems warnings{};  ///< about files that two wheels bring, and bring differently
};

/// What `files`, which install() gave, say to group().
Brought brought(std::string name,
                Digest digest,
                std::uint64_t size,
                const std::vector<InstalledFile>& files);

/// Sorts wheels, which are in the order of their installation, into at most `most_layers` layers,
/// at least one. Wheels with a file in common share a layer, large ones have their own or several,
/// the rest goes by name into a few, so that a change of one touches one layer. Decided by the list
/// alone. Throws Error(project) when a file of one is where another needs a directory.
Grouping group(const std::vector<Brought>& wheels, std::size_t most_layers);

/// A text that brought_files() reads; none when a path has a line feed in it.
std::optional<std::string> to_text(const std::vector<BroughtFile>& files);

/// None when `text` is damaged.
std::optional<std::vector<BroughtFile>> brought_files(std::string_view text);

/// A text that grouping_from_json() reads.
std::string to_json(const Grouping& grouping);

/// None when `text` is damaged, or holds wheels past `wheels`.
std::optional<Grouping> grouping_from_json(std::string_view text, std::size_t wheels);

}  // namespace autopack::wheel
