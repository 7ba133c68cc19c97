#pragma once

#include "base/digest.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::compare {

/// The compared properties of a file, link or directory.
struct FileFacts {
  char kind{'f'};         ///< `f` a file, `x` a program, `l` a link, `d` a directory, `o` other
  std::uint64_t size{0};  ///< of a file
  std::string content{};  ///< the hash of a file, the target of a link

  bool operator==(const FileFacts&) const = default;
};

struct LayerFacts {
  Digest digest;          ///< of its uncompressed tar
  std::uint64_t size{0};  ///< as transferred
};

/// One side of a comparison.
struct Contents {
  std::string name{};
  bool is_image{true};                            ///< false: a project's files, not packaged
  std::map<std::string, FileFacts> files{};       ///< by path without a leading slash
  std::set<std::string> removed{};                ///< in layers below, which were not read
  std::map<std::string, std::string> packages{};  ///< version by normalised name
  /// Packages of layers below that it removed.
  std::map<std::string, std::string> removed_packages{};
  std::map<std::string, std::string> configuration{};
  std::vector<LayerFacts> layers{};
  std::uint64_t size{0};         ///< of an image: as transferred; else of its files
  std::size_t unread_layers{0};  ///< layers that both sides have
};

}  // namespace autopack::compare
