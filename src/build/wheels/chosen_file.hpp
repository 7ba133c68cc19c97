#pragma once

#include "base/digest.hpp"
#include "index/candidate.hpp"
#include "index/download.hpp"
#include "lock/locked_set.hpp"
#include "lock/select.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::build {

/// Returns the SHA-256 among `hashes`; nothing if there is none or more than one.
std::optional<Digest> only_digest(const std::vector<python::Hash>& hashes);

/// The selected file of a package.
struct ChosenFile {
  std::string name{};
  std::string url{};      ///< without a login
  Digest digest;          ///< of its bytes
  std::uint64_t size{0};  ///< in bytes

  index::Download download() const;

  /// Returns one line for the cache.
  std::string text() const;
  /// Returns nothing if `text` is not such a line.
  static std::optional<ChosenFile> read(std::string_view text);

  /// Returns nothing if `file` lacks its digest or size.
  static std::optional<ChosenFile> of(const index::Download& file);
};

/// Converts an index's offers for lock::FileChooser. Hashes that pip does not trust are ignored.
std::vector<lock::Candidate> to_candidates(const std::vector<index::Candidate>& offered);

/// Returns how to fetch `file` for `package`. If the package lists hashes, the file must match one
/// of them, even if the index has another.
index::Download download_of(const lock::LockedPackage& package, const index::Candidate& file);

/// Returns how to fetch a file that a lock names by its URL.
index::Download download_of(const lock::LockedFile& file);

}  // namespace autopack::build
