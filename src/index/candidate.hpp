#pragma once

#include "python/hash.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::index {

/// A file that an index, a page of links or a directory offers.
struct Candidate {
  std::string name{};  ///< the file's: `numpy-1.26.4-cp311-cp311-linux_x86_64.whl`
  std::string url{};   ///< absolute, without fragment and user information; `file:` of a local one
  std::vector<python::Hash> hashes{};            ///< see Verifier; empty when none is told
  std::optional<std::string> requires_python{};  ///< conditions as written
  /// Hashes of the METADATA file at `url` + `.metadata`; none when the index announces no such
  /// file, an empty list when it announces no hash of it.
  std::optional<std::vector<python::Hash>> metadata{};
  std::optional<std::string> yanked{};    ///< the reason, which may be empty (PEP 592)
  std::optional<std::uint64_t> size{};    ///< bytes (PEP 700)
  std::optional<std::string> uploaded{};  ///< when, in ISO 8601 (PEP 700)
  std::string index{};                    ///< where it was found, safe to print
};

}  // namespace autopack::index
