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

/// A file of a wheel, with the properties that decide which layer it goes into.
struct WheelFile {
  std::string path{};
  std::uint64_t packed_size{0};
  std::uint64_t content{0};  ///< equal for equal bytes and mode

  bool operator==(const WheelFile&) const = default;
};

/// The files that a wheel installs.
struct WheelFiles {
  std::string name{};            ///< normalised
  Digest digest;                 ///< of the wheel
  std::uint64_t size{0};         ///< of the wheel, in bytes
  std::vector<WheelFile> files;  ///< in installation order
};

/// The wheels of a layer, or the part of one wheel.
struct LayerGroup {
  std::vector<std::size_t> wheels{};  ///< indexes into the list; files of later wheels win
  /// Of a split wheel: the indexes of the first file and of the one after the last.
  std::optional<std::pair<std::size_t, std::size_t>> part{};

  bool operator==(const LayerGroup&) const = default;
};

struct Grouping {
  std::vector<LayerGroup> layers{};
  Problems warnings{};  ///< about files that two wheels install with different contents
};

/// Makes group()'s input from `files`, which install() returned.
WheelFiles wheel_files(std::string name,
                       Digest digest,
                       std::uint64_t size,
                       const std::vector<InstalledFile>& files);

/// Sorts wheels, which are in installation order, into at most `most_layers` layers, but at least
/// one. Wheels with a common file share a layer, and large ones have one or several layers of their
/// own. The rest is spread over a few layers by name, so that a change of one wheel changes one
/// layer. The result depends only on the list. Throws Error(project) if one wheel has a file where
/// another needs a directory.
Grouping group(const std::vector<WheelFiles>& wheels, std::size_t most_layers);

/// Returns a text that parse_wheel_files() reads, or nothing if a path contains a line feed.
std::optional<std::string> to_text(const std::vector<WheelFile>& files);

/// Returns nothing if `text` is damaged.
std::optional<std::vector<WheelFile>> parse_wheel_files(std::string_view text);

/// Returns a text that grouping_from_json() reads.
std::string to_json(const Grouping& grouping);

/// Returns nothing if `text` is damaged, or refers to a wheel beyond the first `wheels`.
std::optional<Grouping> grouping_from_json(std::string_view text, std::size_t wheels);

}  // namespace autopack::wheel
