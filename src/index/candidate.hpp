#pragma once

#include "python/hash.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::index {

/// A file in an index, a page of links or a directory.
struct Candidate {
  std::string name{};  ///< of the file: `numpy-1.26.4-cp311-cp311-linux_x86_64.whl`
  std::string url{};  ///< absolute, without fragment and user information; `file:` for a local file
  std::vector<python::Hash> hashes{};            ///< see Verifier; empty if there are none
  std::optional<std::string> requires_python{};  ///< the conditions, unparsed
  /// Hashes of the METADATA file at `url` + `.metadata`. Absent if the index offers no such file;
  /// empty if it states no hash.
  std::optional<std::vector<python::Hash>> metadata{};
  /// the reason, which may be empty (PEP 592); absent: not yanked
  std::optional<std::string> yanked{};
  std::optional<std::uint64_t> size{};    ///< in bytes (PEP 700)
  std::optional<std::string> uploaded{};  ///< in ISO 8601 (PEP 700)
  std::string index{};                    ///< its origin, safe to print
};

}  // namespace autopack::index
