#pragma once

#include "base/digest.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::compare {

/// A file, link or directory, as far as two of them can be told apart.
struct FileFacts {
  char kind{'f'};         ///< `f` a file, `x` a program, `l` a link, `d` a directory, `o` another
  std::uint64_t size{0};  ///< of a file
  std::string content{};  ///< the hash of a file, the target of a link

  bool operator==(const FileFacts&) const = default;
};

/// A layer of an image.
struct LayerFacts {
  Digest digest;          ///< of its plain tar
  std::uint64_t size{0};  ///< as it travels
};

/// One side of a comparison.
struct Contents {
  std::string name{};
  bool is_image{true};                            ///< false: a project's files, not packaged
  std::map<std::string, FileFacts> files{};       ///< by path without a leading slash
  std::set<std::string> removed{};                ///< of layers below, which were not read
  std::map<std::string, std::string> packages{};  ///< of Python, by normalised name; the version
  /// Of packages that it took away of layers below.
  std::map<std::string, std::string> removed_packages{};
  std::map<std::string, std::string> configuration{};
  std::vector<LayerFacts> layers{};
  std::uint64_t size{0};         ///< of an image as it travels, else of its files
  std::size_t unread_layers{0};  ///< those that both sides have
};

}  // namespace autopack::compare
